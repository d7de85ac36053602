/**
 * A file that PHP runs before PHPUnit's own (`auto_prepend_file`). It hears of each test from PHPUnit 8 and later, and writes a signed line of it, and a
 * last line at the end of the run. In PHP 7.2, because the project's own loads it.
 *
 * `--log-junit` does not serve: it is one file that is written at the end, in the process of the judged code. Here the key of the lines is taken before
 * any code of the project is loaded, and lines are numbered, so that none can be left out (`signed-report.ts` reads them). What PHPUnit tells counts only
 * where PHPUnit's own code told it, of the test that runs. Its classes have to come from where it is installed. An end that PHPUnit did not come to is told
 * as such, and so is a run that exit() ends.
 *
 * Remaining gaps: code that searches this process for the key (reflection of the closures here), that rewrites PHPUnit's files while they are loaded
 * (stream wrappers), or that the tests hand a comparator or a constraint. It has to forge the negative control as well.
 */
export const phpunitReporter = ({ destination, keyFile, copy }: ReporterOptions): string => `<?php
(static function () {
    // Neither what starts PHPUnit nor what tests start.
    if (\\PHP_SAPI !== 'cli' || !\\preg_match('/^phpunit[\\d.-]*(\\.phar)?$/', \\basename($_SERVER['argv'][0] ?? ''))) {
        return;
    }
    \\putenv('PHP_INI_SCAN_DIR');
    unset($_SERVER['PHP_INI_SCAN_DIR'], $_ENV['PHP_INI_SCAN_DIR']);
    $copy = ${phpText(`${copy}/`)};

    // The number and the key of this report. The file keeps the key of the next one, because a command may run tests again.
    $file = \\fopen(${phpText(keyFile)}, 'r+');
    \\flock($file, \\LOCK_EX);
    list($number, $key) = \\explode(' ', \\fgets($file));
    $key = \\hex2bin($key);
    \\rewind($file);
    \\ftruncate($file, 0);
    \\fwrite($file, ($number + 1) . ' ' . \\hash('sha256', $key . 'next'));
    \\fclose($file);

    $target = \\fopen(${phpText(destination)}, 'a');
    $owner = \\getmypid();
    $lines = 0;
    $line = static function (array $event) use ($number, $key, $target, $owner, &$lines) {
        if (\\getmypid() !== $owner) {
            return;
        }
        $flags = \\JSON_INVALID_UTF8_SUBSTITUTE | \\JSON_UNESCAPED_SLASHES | \\JSON_UNESCAPED_UNICODE;
        $text = $number . ' ' . $lines++ . ' ' . \\json_encode($event, $flags);
        \\fwrite($target, \\hash('sha256', $key . $text . $key) . ' ' . $text . "\\n");
    };
    $line(['type' => 'start']);

    // All tests count, not only those up to the first failure.
    $_SERVER['argv'] = \\array_values(\\array_filter($_SERVER['argv'], static function ($word) {
        return \\strpos($word, '--stop-on-') !== 0;
    }));
    // Where PHPUnit's classes are.
    $root = null;
    $hasEnded = false;
    $open = null;
    $inside = 0;

    /** The file of the copy that a class comes from; null where no file of the copy has it. */
    $placeOf = static function ($class) use ($copy) {
        $file = \\preg_replace('/\\(\\d+\\) : eval\\(\\)\\'d code.*/', '', (string) (new \\ReflectionClass($class))->getFileName());
        return \\strpos($file, $copy) === 0 ? \\substr($file, \\strlen($copy)) : null;
    };
    $nameOf = static function ($class) {
        return \\substr((string) \\strrchr('\\\\' . $class, '\\\\'), 1);
    };
    $pathOf = static function ($class, array $names) use ($nameOf) {
        $file = \\class_exists($class, false) ? (new \\ReflectionClass($class))->getFileName() : false;
        return ['file' => $file === false ? null : $file, 'names' => \\array_merge([$nameOf($class)], $names)];
    };
    $planted = static function ($what) use ($line) {
        $line(['type' => 'planted', 'what' => $what]);
    };

    /** Whether PHPUnit's own code tells this: what called the last of its methods that pass on what is told. */
    $isTold = static function () use (&$root) {
        $from = '';
        foreach (\\debug_backtrace(\\DEBUG_BACKTRACE_IGNORE_ARGS, 30) as $frame) {
            $class = $frame['class'] ?? '';
            if ($from !== '' && \\strpos($class, 'PHPUnit\\\\Event\\\\') !== 0 && $class !== 'PHPUnit\\\\Framework\\\\TestResult') {
                break;
            }
            if ($class !== '' && $class !== 'Closure') {
                $from = $frame['file'] ?? 'nowhere';
            }
        }
        return \\strpos($from, $root) === 0;
    };
    $told = static function ($what) use ($isTold, $planted) {
        if (!$isTold()) {
            $planted('The code under test told ' . $what . ' itself.');
        }
    };

    $put = static function (array $path, $status, $message, $since = null, $kind = 'test') use ($line) {
        $durationMs = $since === null ? 0 : (\\microtime(true) - $since) * 1000;
        $line($path + ['type' => 'result', 'kind' => $kind, 'status' => $status, 'message' => $message === null ? null : \\substr($message, 0, 4000), 'durationMs' => $durationMs]);
    };
    $begin = static function (array $path) use (&$open, &$inside, $told) {
        $told('that a test begins');
        // A test that runs another one tells of both.
        if ($open !== null) {
            $inside++;
            return;
        }
        $open = ['path' => $path, 'since' => \\microtime(true), 'status' => null, 'message' => null];
    };
    $outcome = static function (array $path, $status, $message = null) use (&$open, &$inside, $told, $put, $planted) {
        $told('how a test ended');
        if ($inside > 0) {
            return;
        }
        if ($open === null || $open['path'] !== $path) {
            $status === 'passed' ? $planted('A test was reported as passed that did not run.') : $put($path, $status, $message);
        } elseif ($open['status'] === null || ($status === 'failed' && $open['status'] !== 'failed')) {
            $open['status'] = $status;
            $open['message'] = $message;
        }
    };
    $finish = static function () use (&$open, &$inside, $told, $put) {
        $told('that a test is over');
        if ($inside > 0) {
            $inside--;
        } elseif ($open !== null) {
            $put($open['path'], $open['status'] ?? 'failed', $open['status'] === null ? 'The test told no result.' : $open['message'], $open['since']);
            $open = null;
        }
    };
    $end = static function () use (&$hasEnded, &$root, $told, $line, $placeOf) {
        $told('that all tests are over');
        if ($hasEnded) {
            return;
        }
        $hasEnded = true;
        foreach (\\array_merge(\\get_declared_classes(), \\get_declared_interfaces(), \\get_declared_traits()) as $class) {
            if (!\\preg_match('/^PHPUnit\\\\\\\\(?:Framework|Event|Runner|TextUI|Util|Metadata)\\\\\\\\/i', $class)) {
                continue;
            }
            $place = $placeOf($class);
            if ($place !== null && \\strpos((string) (new \\ReflectionClass($class))->getFileName(), $root) !== 0) {
                $line(['type' => 'replaced', 'name' => $class, 'file' => $place]);
            }
        }
        $line(['type' => 'end']);
    };
    \\register_shutdown_function(static function () use (&$hasEnded, &$open, $line) {
        if ($hasEnded) {
            return;
        }
        $hasEnded = true;
        $error = \\error_get_last();
        $isFatal = $error !== null && ($error['type'] & (\\E_ERROR | \\E_PARSE | \\E_CORE_ERROR | \\E_COMPILE_ERROR | \\E_USER_ERROR | \\E_RECOVERABLE_ERROR)) !== 0;
        $line(($open['path'] ?? ['file' => null, 'names' => []]) + ['type' => 'broken', 'message' => $isFatal ? \\substr($error['message'], 0, 4000) : null]);
        $line(['type' => 'end']);
    });

    /** PHPUnit 10 and later: events. */
    $listen = static function () use ($begin, $outcome, $finish, $end, $pathOf, $put, $told, $planted, &$open) {
        $pathOfTest = static function ($test) use ($pathOf) {
            if (!$test->isTestMethod()) {
                return ['file' => $test->file(), 'names' => []];
            }
            $data = $test->testData();
            $set = $data->hasDataFromDataProvider() ? $data->dataFromDataProvider()->dataSetName() : null;
            $suffix = $set === null ? '' : ' with data set ' . (\\is_int($set) ? '#' . $set : '"' . $set . '"');
            return $pathOf($test->className(), [$test->methodName() . $suffix]);
        };
        $runs = 0;
        $hear = static function ($event) use ($begin, $outcome, $finish, $end, $pathOf, $pathOfTest, $put, $told, $planted, &$open, &$runs) {
            switch (\\substr(\\get_class($event), 14)) {
                case 'Test\\\\PreparationStarted':
                    $begin($pathOfTest($event->test()));
                    break;
                case 'Test\\\\Passed':
                    $outcome($pathOfTest($event->test()), 'passed');
                    break;
                case 'Test\\\\Errored':
                case 'Test\\\\Failed':
                case 'Test\\\\PreparationErrored':
                case 'Test\\\\PreparationFailed':
                    $outcome($pathOfTest($event->test()), 'failed', \\method_exists($event, 'throwable') ? $event->throwable()->description() : null);
                    break;
                case 'Test\\\\PhpunitErrorTriggered':
                    // Outside of a test it is about what provides the data of tests, which are missing then.
                    $test = $event->test();
                    if ($open === null && $test->isTestMethod()) {
                        $put($pathOf($test->className(), []), 'failed', $event->message(), null, 'container');
                    } else {
                        $outcome($pathOfTest($test), 'failed', $event->message());
                    }
                    break;
                case 'Test\\\\Skipped':
                    $outcome($pathOfTest($event->test()), 'skipped', $event->message());
                    break;
                case 'Test\\\\MarkedIncomplete':
                    $outcome($pathOfTest($event->test()), 'skipped', $event->throwable()->description());
                    break;
                case 'Test\\\\Finished':
                    $finish();
                    break;
                case 'Test\\\\BeforeFirstTestMethodErrored':
                case 'Test\\\\BeforeFirstTestMethodFailed':
                case 'Test\\\\AfterLastTestMethodErrored':
                case 'Test\\\\AfterLastTestMethodFailed':
                    $told('that a class failed');
                    $put($pathOf($event->testClassName(), []), 'failed', $event->throwable()->description(), null, 'container');
                    break;
                case 'TestRunner\\\\ExecutionStarted':
                    $told('that tests begin');
                    if (++$runs > 1) {
                        $planted('The code under test ran tests of its own.');
                    }
                    break;
                case 'Application\\\\Finished':
                    $end();
                    break;
            }
        };
        \\PHPUnit\\Event\\Facade::instance()->registerTracer(new class($hear) implements \\PHPUnit\\Event\\Tracer\\Tracer {
            private $hear;

            public function __construct($hear)
            {
                $this->hear = $hear;
            }

            public function trace(\\PHPUnit\\Event\\Event $event): void
            {
                ($this->hear)($event);
            }
        });
    };

    /** PHPUnit 8 and 9: a listener, which is also its printer. */
    $print = static function () use ($begin, $outcome, $finish, $end, $pathOf, $put, &$root) {
        $pathOfTest = static function ($test) use ($pathOf) {
            if ($test instanceof \\PHPUnit\\Runner\\PhptTestCase) {
                return ['file' => $test->getName(), 'names' => []];
            }
            // What stands for tests that could not be made: 'Class::method'.
            if (\\preg_match('/^PHPUnit\\\\\\\\Framework\\\\\\\\(?:Skipped|Incomplete)TestCase$/', \\get_class($test))) {
                list($class, $method) = \\explode('::', $test->toString() . '::');
                return $pathOf($class, [$method]);
            }
            return $test instanceof \\PHPUnit\\Framework\\TestCase ? $pathOf(\\get_class($test), [$test->getName(false) . $test->getDataSetAsString(false)]) : $pathOf(\\get_class($test), []);
        };
        $textOf = static function ($thrown) {
            return \\PHPUnit\\Framework\\TestFailure::exceptionToString($thrown);
        };
        $failed = static function ($test, $thrown) use ($outcome, $pathOf, $pathOfTest, $put, $textOf) {
            if (\\preg_match('/^The data provider specified for (\\S+)::\\w+ is invalid/', $thrown->getMessage(), $found) && \\get_class($test) === 'PHPUnit\\\\Framework\\\\ErrorTestCase') {
                $put($pathOf($found[1], []), 'failed', $textOf($thrown), null, 'container');
                return;
            }
            $outcome($pathOfTest($test), 'failed', $textOf($thrown));
        };
        \\class_alias(\\class_exists('PHPUnit\\TextUI\\DefaultResultPrinter') ? 'PHPUnit\\TextUI\\DefaultResultPrinter' : 'PHPUnit\\TextUI\\ResultPrinter', 'ConductorPrinterBase');
        class ConductorPrinter extends \\ConductorPrinterBase
        {
            private static $hear;

            public static function hear(array $hear): void
            {
                self::$hear = $hear;
            }

            public function startTest(\\PHPUnit\\Framework\\Test $test): void
            {
                (self::$hear['start'])($test);
                parent::startTest($test);
            }

            public function addError(\\PHPUnit\\Framework\\Test $test, \\Throwable $t, float $time): void
            {
                (self::$hear['failed'])($test, $t);
                parent::addError($test, $t, $time);
            }

            public function addFailure(\\PHPUnit\\Framework\\Test $test, \\PHPUnit\\Framework\\AssertionFailedError $e, float $time): void
            {
                (self::$hear['failed'])($test, $e);
                parent::addFailure($test, $e, $time);
            }

            public function addWarning(\\PHPUnit\\Framework\\Test $test, \\PHPUnit\\Framework\\Warning $e, float $time): void
            {
                (self::$hear['warned'])($test, $e);
                parent::addWarning($test, $e, $time);
            }

            public function addRiskyTest(\\PHPUnit\\Framework\\Test $test, \\Throwable $t, float $time): void
            {
                (self::$hear['warned'])($test, $t);
                parent::addRiskyTest($test, $t, $time);
            }

            public function addIncompleteTest(\\PHPUnit\\Framework\\Test $test, \\Throwable $t, float $time): void
            {
                (self::$hear['skipped'])($test, $t);
                parent::addIncompleteTest($test, $t, $time);
            }

            public function addSkippedTest(\\PHPUnit\\Framework\\Test $test, \\Throwable $t, float $time): void
            {
                (self::$hear['skipped'])($test, $t);
                parent::addSkippedTest($test, $t, $time);
            }

            public function endTest(\\PHPUnit\\Framework\\Test $test, float $time): void
            {
                (self::$hear['finish'])($test);
                parent::endTest($test, $time);
            }

            public function printResult(\\PHPUnit\\Framework\\TestResult $result): void
            {
                parent::printResult($result);
                (self::$hear['end'])();
            }
        }
        $standsForNone = static function ($test) {
            return \\in_array(\\get_class($test), ['PHPUnit\\\\Framework\\\\WarningTestCase', 'PHPUnit\\\\Framework\\\\ErrorTestCase'], true);
        };
        ConductorPrinter::hear([
            'start' => static function ($test) use ($begin, $pathOfTest, $standsForNone) {
                if ($standsForNone($test)) {
                    return;
                }
                if (\\method_exists($test, 'getTestResultObject') && ($result = $test->getTestResultObject()) !== null) {
                    $result->stopOnFailure(false);
                    $result->stopOnError(false);
                    $result->stopOnDefect(false);
                }
                $begin($pathOfTest($test));
            },
            'failed' => $failed,
            'skipped' => static function ($test, $thrown) use ($outcome, $pathOfTest, $textOf) {
                // A test that a hook of its class kept from running did not choose to be skipped.
                $isKept = \\strpos($thrown->getMessage(), 'Test skipped because of an error in hook method') === 0;
                $outcome($pathOfTest($test), $isKept ? 'failed' : 'skipped', $textOf($thrown));
            },
            // PHPUnit warns at the end of a test that passes. Whoever throws a warning ends the test.
            'warned' => static function ($test, $thrown) use ($outcome, $pathOfTest, $standsForNone, $textOf, &$root) {
                if (!$standsForNone($test) && \\strpos($thrown->getFile(), $root) !== 0) {
                    $outcome($pathOfTest($test), 'failed', $textOf($thrown));
                }
            },
            'finish' => static function ($test) use ($outcome, $finish, $pathOfTest, $standsForNone, &$open) {
                if ($standsForNone($test)) {
                    return;
                }
                $outcome($pathOfTest($test), 'passed');
                $finish();
            },
            'end' => $end,
        ]);
        // A word after '--' is the name of a file.
        $at = \\array_search('--', $_SERVER['argv'], true);
        \\array_splice($_SERVER['argv'], $at === false ? \\count($_SERVER['argv']) : $at, 0, ['--printer', 'ConductorPrinter']);
    };

    /** Loads a class, also while it is being loaded. */
    $load = static function ($class) {
        foreach (\\spl_autoload_functions() as $loader) {
            if (\\class_exists($class, false)) {
                break;
            }
            \\call_user_func($loader, $class);
        }
        return \\class_exists($class, false);
    };
    $watch = static function ($class) use (&$watch, &$root, $load, $listen, $print, $line, $placeOf) {
        if (\\strpos($class, 'PHPUnit\\\\') !== 0) {
            return;
        }
        \\spl_autoload_unregister($watch);
        $isNew = $load('PHPUnit\\TextUI\\Application');
        if (!$isNew && !$load('PHPUnit\\TextUI\\Command')) {
            \\spl_autoload_register($watch, true, true);
            return;
        }
        $load('PHPUnit\\Framework\\TestCase');
        $load('PHPUnit\\Framework\\Assert');
        $root = \\dirname((new \\ReflectionClass('PHPUnit\\Framework\\TestCase'))->getFileName(), 2) . '/';
        foreach (['PHPUnit\\\\Framework\\\\TestCase', 'PHPUnit\\\\Framework\\\\Assert', $isNew ? 'PHPUnit\\\\TextUI\\\\Application' : 'PHPUnit\\\\TextUI\\\\Command'] as $name) {
            $found = new \\ReflectionClass($name);
            if ($found->getName() !== $name || \\strpos((string) $found->getFileName(), $root) !== 0) {
                $line(['type' => 'replaced', 'name' => $name, 'file' => $placeOf($name)]);
            }
        }
        $isNew ? $listen() : $print();
    };
    // Composer's autoloader puts itself first. It is loaded once, and PHPUnit asks for it by this name, also where vendor/bin/phpunit is a link to the workspace.
    $script = $_SERVER['argv'][0];
    foreach (\\strpos(\\file_get_contents($script, false, null, 0, 65536), '__PHPUNIT_PHAR__') === false ? ['/..', '/../..', '/../vendor', '/vendor'] : [] as $folder) {
        $file = \\dirname($script) . $folder . '/autoload.php';
        if (\\is_file($file)) {
            $GLOBALS['_composer_autoload_path'] = $file;
            require $file;
            break;
        }
    }
    \\spl_autoload_register($watch, true, true);
})();
`;

interface ReporterOptions {
  /** All absolute. `copy` is the folder in which the tests run. */
  readonly destination: string;
  readonly keyFile: string;
  readonly copy: string;
}

/** A text in PHP's single quotes. */
const phpText = (text: string): string => `'${text.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
