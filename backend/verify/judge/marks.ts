import type { Language } from '../syntax/language.ts';

/** What code rarely does in order to mend something, and often in order to recognise or silence the tests that judge it. */
export interface Mark {
  /** After "the change": a verb with its object. */
  readonly does: string;
  /** In code without comments and without the contents of strings. */
  readonly code?: RegExp;
  /** In the contents of one string. */
  readonly text?: RegExp;
}

const READS_TESTS: Mark = {
  does: 'names a file of tests',
  text: /(?:^|[/\\])(?:test_[\w-]+\.py|conftest\.py|__tests__[/\\]|[\w.-]+[._](?:test|spec)\.[cm]?[jt]sx?|[\w-]+_test\.(?:go|py))/,
};

const PYTHON: readonly Mark[] = [
  { does: 'reads the frames of its callers', code: /\bsys\s*\.\s*_(?:getframe|current_frames)\b|\binspect\s*\.\s*(?:stack|currentframe|trace|getouterframes|getframeinfo)\b|\b_getframe\s*\(|\.\s*(?:f_back|tb_frame)\b|\btraceback\s*\.\s*(?:extract_stack|walk_stack)\b/ },
  { does: 'reads source code', code: /\binspect\s*\.\s*getsource\w*\b|\blinecache\b|\bopen\s*\(\s*__file__\b|\bPath\s*\(\s*__file__\s*\)\s*\.\s*read_/ },
  { does: 'decides how the process ends', code: /\bos\s*\.\s*(?:_exit|abort|kill|killpg)\b|\b_exit\s*\(|\bsys\s*\.\s*exit\b|\braise\s+SystemExit\b|(?<![\w.])(?:exit|quit)\s*\(/ },
  { does: 'acts at the end of the process, on signals or on every line', code: /\batexit\b|\bsignal\s*\.\s*(?:signal|alarm|setitimer)\b|\bsys\s*\.\s*(?:settrace|setprofile|excepthook|unraisablehook|meta_path|monitoring)\b/ },
  { does: 'says itself what is equal', code: /\bdef\s+__(?:eq|ne)__\b|\b__(?:eq|ne)__\s*=/ },
  { does: 'replaces what Python brings', code: /\bbuiltins\s*\.\s*\w+\s*=|\bsetattr\s*\(\s*(?:builtins|sys|os|unittest|pytest|_pytest)\b/ },
  { does: 'uses the tests\' own library', code: /^\s*(?:import|from)\s+_?(?:pytest|unittest|pluggy)\b/ },
  { does: 'looks for the tests', code: /\bsys\s*\.\s*modules\b/, text: /^(?:PYTEST_\w+|pytest|_pytest|unittest)$/ },
  READS_TESTS,
];

const BUILT_IN = '(?:Object|Array|Function|String|Number|Boolean|Promise|Error|Map|Set|Symbol|RegExp|JSON|Math|Reflect|Date|console|globalThis)';

const JAVASCRIPT: readonly Mark[] = [
  { does: 'reads the frames of its callers', code: /\bprepareStackTrace\b|\bgetCallSites?\b|\bError\s*\([^)]*\)\s*\.\s*stack\b|\barguments\s*\.\s*callee\b/ },
  { does: 'decides how the process ends', code: /\bprocess\s*\.\s*(?:exit|abort|kill|reallyExit)\b|\bprocess\s*\.\s*exitCode\s*=/ },
  { does: 'acts at the end of the process or on signals', code: /\bprocess\s*\.\s*(?:on|once|addListener|prependListener|prependOnceListener|emit)\s*\(/ },
  { does: 'says itself what is equal', code: /\basymmetricMatch\b|\bexpect\s*\.\s*(?:extend|addEqualityTesters)\b/, text: /^jest\.asymmetricMatcher$/ },
  { does: 'replaces what JavaScript brings', code: new RegExp(`\\b${BUILT_IN}\\s*\\.\\s*(?:prototype\\s*\\.\\s*)?\\w+\\s*=(?!=)|\\bdefinePropert(?:y|ies)\\s*\\(\\s*${BUILT_IN}\\b`) },
  { does: 'replaces an assertion', code: /\b(?:assert|expect|chai|should)\s*\.\s*\w+\s*=(?!=)/ },
  { does: 'uses the tests\' own library', text: /^(?:vitest|jest|@jest\/.+|@vitest\/.+|chai|mocha|node:test|expect)$/ },
  { does: 'looks for the tests', code: /\b(?:VITEST\w*|JEST_WORKER_ID|NODE_TEST_CONTEXT|__vitest_\w+)\b/, text: /^(?:VITEST\w*|JEST_WORKER_ID|NODE_TEST_CONTEXT|MOCHA_\w+)$/ },
  READS_TESTS,
];

const GO: readonly Mark[] = [
  { does: 'reads the frames of its callers', code: /\bruntime\s*\.\s*(?:Callers?|CallersFrames|FuncForPC|Stack)\b|\bdebug\s*\.\s*(?:Stack|PrintStack)\b/ },
  { does: 'decides how the process ends', code: /\bos\s*\.\s*Exit\b|\bsyscall\s*\.\s*(?:Exit|Kill)\b|\bruntime\s*\.\s*Goexit\b/ },
  { does: 'acts on signals', code: /\bsignal\s*\.\s*(?:Notify|NotifyContext|Ignore)\b/ },
  { does: 'uses the tests\' own library', text: /^(?:testing|github\.com\/stretchr\/testify.*)$/ },
  { does: 'looks for the tests', text: /^test\.\w+$/ },
  READS_TESTS,
];

const RUST: readonly Mark[] = [
  { does: 'reads the frames of its callers', code: /\bLocation\s*::\s*caller\b|\btrack_caller\b|\bBacktrace\s*::/ },
  { does: 'reads source code', code: /\binclude_(?:str|bytes)\s*!/ },
  { does: 'decides how the process ends', code: /\bprocess\s*::\s*(?:\{[^}]*\b)?(?:exit|abort)\b|\bprocess\s+as\b|\bprocess\s*::\s*\*|\blibc\s*::|\bextern\s*"|\basm\s*!|\bCommandExt\b/ },
  { does: 'writes to descriptors of the process', code: /\b(?:from_raw_fd|RawFd|FromRawFd|BorrowedFd)\b/, text: /^\/(?:dev\/(?:stdout|stderr|fd)|proc\/self)\b/ },
  { does: 'acts on a failure', code: /\bpanic\s*::\s*(?:set_hook|take_hook|catch_unwind)\b/ },
  { does: 'says itself what is equal', code: /\bimpl\b[^{;]*\bPartialEq\b|\bmacro_rules\s*!\s*(?:debug_)?assert/ },
  { does: 'looks for the tests', code: /\bcfg!\s*\(\s*(?:not\s*\(\s*)?test\b|\bcfg\s*\(\s*not\s*\(\s*test\b/ },
];

const JAVA: readonly Mark[] = [
  { does: 'reads the frames of its callers', code: /\bget(?:All)?StackTraces?\b|\bStackWalker\b|\bprintStackTrace\s*\(\s*(?!System\b)\w/ },
  { does: 'decides how the process ends', code: /\bSystem\s*\.\s*exit\b|\bgetRuntime\s*\(\s*\)\s*\.\s*(?:exit|halt)\b|\bRuntime\b.*\.\s*halt\s*\(|\bProcessHandle\b.*\.\s*destroy/ },
  { does: 'acts at the end of the process, on signals or on failures', code: /\baddShutdownHook\b|\bsun\s*\.\s*misc\s*\.\s*Signal\b|\bset(?:Default)?UncaughtExceptionHandler\b|\bcatch\s*\([^)]*\bAssertion(?:Failed)?Error\b/ },
  { does: 'changes classes while they run', code: /\bjava\s*\.\s*lang\s*\.\s*instrument\b|\bInstrumentation\b|\bVirtualMachine\s*\.\s*attach\b|\bmisc\s*\.\s*Unsafe\b|\bByteBuddyAgent\b|\bprivateLookupIn\b|\bdefineClass\s*\(/ },
  { does: 'uses the tests\' own library', code: /\b(?:org\s*\.\s*(?:junit|testng|assertj|hamcrest|opentest4j|mockito)|junit\s*\.\s*framework)\b/ },
  { does: 'looks for the tests', text: /^(?:org[./](?:junit|testng|opentest4j|assertj|hamcrest|apache[./]maven[./]surefire)\b.*|surefire\.[\w.]+|java\.class\.path|sun\.java\.command)$/ },
  { does: 'names a file of tests', text: /(?:^|[/\\])src[/\\](?:test|main)\b|(?:^|[/\\])(?:test-classes|surefire-reports|test-results)\b|\w(?:Tests?|TestCase|IT)\.(?:java|class)$/ },
];

const RUBY: readonly Mark[] = [
  { does: 'reads the frames of its callers', code: /\bcaller(?:_locations)?\b|\bbacktrace(?:_locations)?\b|\bbinding_of_caller\b|\bThread\s*\.\s*each_caller_location\b/ },
  { does: 'reads source code', code: /\bsource_location\b|\b(?:read|readlines|foreach|open)\s*\(?\s*__FILE__\b|\bRubyVM\b|\bmethod_source\b/ },
  { does: 'decides how the process ends', code: /(?<![\w.:@])(?:exit|exit!|abort)(?![\w?:=])|\b(?:Process|Kernel)\s*\.\s*(?:exit!?|abort|kill)|\bSystemExit\b/ },
  { does: 'acts at the end of the process, on signals or on every line', code: /\bat_exit\b|(?<![\w.])trap\s*[( ]|\bSignal\s*\.\s*trap\b|\bTracePoint\b|\bset_trace_func\b|\bObjectSpace\b/ },
  { does: 'says itself what is equal', code: /\bdef\s+(?:self\s*\.\s*)?(?:==|!=|===|eql\?|equal\?|=~)|\b(?:define_method|alias_method|alias)\s*\(?\s*:(?:==|!=|===|eql\?|equal\?)/ },
  { does: 'replaces what Ruby brings', code: /^\s*(?:class|module)\s+(?:BasicObject|Object|Kernel|Comparable|String|Symbol|Integer|Float|Array|Hash|NilClass|TrueClass|FalseClass|Module|Class|Exception|Time|Process)\s*(?:;|$)|\brefine\b/m },
  { does: 'uses the tests\' own library', code: /\b(?:RSpec|Minitest|MiniTest|Test\s*::\s*Unit)\b/, text: /^(?:rspec|minitest|test\/unit|test-unit)(?:\/|$)/ },
  { does: 'looks for the tests', code: /\$(?:PROGRAM_NAME|0)\b/, text: /^(?:RUBYOPT|SPEC_OPTS|TESTOPTS|RSPEC_\w+|CONDUCTOR_\w+)$/ },
  { does: 'names a file of tests', text: /(?:^|[/\\])(?:spec|test)[/\\]|[\w-]+_(?:spec|test)\.rb|test_[\w-]+\.rb|spec_helper|test_helper/ },
];

const PHP: readonly Mark[] = [
  { does: 'reads the frames of its callers', code: /\bdebug_(?:print_)?backtrace\s*\(|->\s*getTrace(?:AsString)?\s*\(/ },
  { does: 'reads source code', code: /\b(?:file_get_contents|fopen|file|readfile|highlight_file|php_strip_whitespace)\s*\(\s*__FILE__|\bget_included_files\b|\bget_required_files\b|->\s*getFileName\s*\(/ },
  { does: 'decides how the process ends', code: /(?<![\w$>:\\])(?:exit|die)\b|\bposix_kill\b|\bpcntl_(?:fork|exec)\b/i },
  { does: 'acts at the end of the process, on signals or on every line', code: /\b(?:register_shutdown_function|register_tick_function|pcntl_signal|pcntl_alarm|header_register_callback)\b/ },
  { does: 'replaces what PHP brings or how files are loaded', code: /\b(?:stream_wrapper_(?:unregister|register|restore)|stream_filter_register|class_alias|runkit7?_\w+|uopz_\w+|override_function|spl_autoload_(?:register|unregister|functions))\b|\bFFI\b|\beval\s*\(/ },
  { does: 'uses the tests\' own library', code: /\bPHPUnit(?:PHAR)?\s*\\|\bSebastianBergmann\s*\\/ },
  { does: 'looks for the tests', code: /\bget_declared_classes\b|\bget_resources\b|\bPHPUNIT_\w+/, text: /^\\?PHPUnit\\|^(?:PHPUNIT_\w+|__PHPUNIT_\w+|PHP_INI_SCAN_DIR|auto_prepend_file)$|phpunit(?:\.xml|\.phar)?$/i },
  { does: 'names a file of tests', text: /(?:^|[/\\])tests?[/\\]|\w(?:Tests?|TestCase)\.php$/i },
];

export const MARKS: Readonly<Record<Language, readonly Mark[]>> = {
  python: PYTHON, javascript: JAVASCRIPT, typescript: JAVASCRIPT, tsx: JAVASCRIPT, go: GO, rust: RUST, java: JAVA, php: PHP, ruby: RUBY,
};
