import { describe, expect, it } from 'vitest';
import { readQuestion } from '../../../backend/conductor/question/read-question.ts';
import { questionOf } from '../../../backend/simulator/sample-project.ts';

/* Questions by hand, as people ask them. */

const QUESTIONS: Readonly<Record<string, readonly string[]>> = {
  'explain → words': [
    'Explain what parse_float does.',
    'expalin what mergeIntervals does',
    'what does useDebounce do?',
    'How does the retry logic in src/http/client.ts work?',
    'Where is the session cookie set?',
    'Walk me through the request lifecycle',
    'what\'s the difference between parseArgs and parseOptions',
    'Which functions call normalizePath?',
    'can you tell me what the second parameter of zipLongest is for?',
    'Erkläre mir bitte, was parseFloat hier macht.',
    'Explique-moi ce que fait parse_float',
    'Explica qué hace parse_float',
    'O que faz a função parse_float?',
    'Cosa fa parse_float?',
    'Wat doet parse_float?',
    'Co robi funkcja parse_float?',
    'Что делает функция parse_float?',
    'parse_float ne yapıyor?',
    '解释一下 parse_float 的作用',
    'parse_float は何をしますか？',
    'parse_float 함수가 무엇을 하는지 설명해줘',
    'Could you give me a tour of the codebase?',
    'I\'m new here. Which file do I start reading?',
    'what is AST',
    'does parseInt ignore whitespace',
    'whats the diffrence betwen map and flatMap',
    'What happens if two requests arrive at the same time?',
    'In router.go, what does the `walk` callback get as its second argument?',
    'summarize the changes in src/compiler.ts',
    'is the config loaded before or after plugins?',
    'who owns the connection in pool.acquire()?',
    'I don\'t understand this generic: `type DeepPartial<T> = { [K in keyof T]?: DeepPartial<T[K]> }`',
    'Please describe how file uploads are validated. Do not change anything.',
    'Please describe how sessions are stored. Change no file.',
    'Was macht die Funktion mergeIntervals?',
    'Wo wird der Cache geleert?',
    'Gib mir einen Überblick über das Projekt',
    'Nur erklären, nichts ändern: wie arbeitet der Scheduler?',
    'Comment fonctionne le cache ?',
    '¿Qué diferencia hay entre map y flatMap?',
    'Explique como funciona o roteador',
    'Spiegami come funziona il router',
    'Leg uit wat deze functie doet',
    'Wyjaśnij, jak działa router',
    'Объясни, как работает роутер',
    'Yönlendirici nasıl çalışıyor, açıkla',
    '路由器是怎么工作的?',
    'ルーターの仕組みを説明してください',
    '라우터가 어떻게 동작하는지 설명해 주세요',
  ],
  'feature → change': [
    'Add a dumps function that writes TOML.',
    'add dark mode',
    'Please support --json output in the list command.',
    'I want users to be able to export the table as CSV.',
    'Implement Route.Match for host names with ports in mux.go',
    'Could somebody add dark mode to the settings screen? The palette is in theme.css.',
    'The login form should remember the last user name.',
    'Extend parseDuration so that it also accepts weeks.',
    'Füge eine Option --json hinzu.',
    'Ajoute une option pour trier par date',
    'Añade soporte para YAML',
    'Adicione uma opção --verbose',
    'Voeg een donkere modus toe',
    'Dodaj obsługę YAML',
    '添加一个 --json 选项',
    '--json オプションを追加してください',
    '--json 옵션을 추가해줘',
    'make the sidebar collapsible',
    'support Windows paths in resolveRoot',
    'Allow `limit` to be zero',
    'we should show a spinner while loading',
    'new endpoint POST /users/:id/avatar',
    'Let users undo the last delete',
    'add retries with exponential backoff to fetchJson',
    'Replace moment by date-fns in src/format.ts',
    'Validate the e-mail address before submitting the form',
    'Change the default port to 8080',
    'Der Export soll auch CSV können',
    'Dunkelmodus einbauen',
    'Ich hätte gern eine Suche in der Tabelle',
    'Le formulaire doit accepter les numéros étrangers',
    'Agrega modo oscuro',
    'Aggiungi il supporto per YAML',
    'Добавь поддержку YAML',
    'YAML desteği ekle',
    '支持 YAML 格式',
  ],
  'why → words': [
    'Why is tomli slower than tomllib for large files?',
    'why does the build use two tsconfig files',
    'Why do we need a lock in acquire()?',
    'why is my test flaky?',
    'How come the cache is never invalidated?',
    'warum ist das so langsam?',
    'Pourquoi est-ce que le test échoue ?',
    '¿Por qué falla el test de login?',
    'Почему тест падает?',
    '为什么这个测试失败?',
    'なぜこのテストは失敗するのですか？',
    '왜 이 테스트가 실패하나요?',
    'Why does merge() lose the outer interval?',
    'why do we call super() twice in BaseController',
    'what causes the "Maximum update depth exceeded" warning in Table.tsx?',
    'ECONNREFUSED 127.0.0.1:5432 - why?',
    'Whats wrong with this regex: ^[a-z+$',
    'Wieso wird hier zweimal gespeichert?',
    'Perché il test fallisce?',
    'Waarom faalt de test?',
    'Dlaczego ten test nie przechodzi?',
    'Test neden başarısız oluyor?',
  ],
  'documentation → change': [
    'Write a docstring for parse_key_value_pair.',
    'Document the public API of src/index.ts',
    'Update the README with the new flags',
    'add comments to scheduler.py',
    'fix the typo in README.md',
    'Schreibe einen Docstring für parse_key',
    'Add JSDoc to all exported functions in src/api.ts',
    'Write a README',
    'write a changelog entry for the new flag',
    'docstring for Foo.bar',
    'Document parseArgs: parameters, result and errors',
    'explain the options in the README and add an example',
    'README aktualisieren',
    'Documente la fonction parse_key',
    'Documenta la API pública',
    '给 parse_key 写文档注释',
  ],
  'small-talk → words': [
    'thanks, that works',
    'hi',
    'Thanks a lot!',
    'ok',
    'who are you?',
    'great, all tests pass now. thank you so much',
    '👍',
    'danke, passt so',
    'merci beaucoup !',
    'gracias, funciona',
    'obrigado!',
    'спасибо, работает',
    'teşekkürler',
    '谢谢',
    'ありがとうございます',
    '감사합니다',
    'hello there!',
    'cool, thx',
    'good morning :)',
    'you\'re awesome',
    'lol ok',
    'What can you do?',
    'never mind',
    'Perfect, exactly what I needed!',
    'sorry, my bad',
    'bye',
    'Hallo',
    'Super, vielen Dank für deine Hilfe!',
    'bonjour',
    'hola, ¿qué tal?',
    'grazie mille',
    'bedankt!',
    'dziękuję',
    'привет',
    'merhaba',
    '你好',
    'こんにちは',
    '안녕하세요',
  ],
  'how-to → words': [
    'How do I read a file line by line in Go?',
    'how can I mock Date in vitest?',
    'What is the best way to paginate over the API?',
    'how to debug a memory leak in node',
    'Wie kann ich eine Datei zeilenweise lesen?',
    'Comment lire un fichier ligne par ligne en Go ?',
    'how would you test a websocket server?',
    'How do I add a new route?',
    'is it possible to run only one test file',
    'what command shows the last commit that touched a line',
    'Which library should I use for date parsing in Rust?',
    'Wie teste ich einen WebSocket-Server?',
    '¿Cómo puedo leer un archivo línea por línea en Go?',
    'Как запустить только один тест?',
    '如何只运行一个测试?',
  ],
  'write → code': [
    'Write a regex that matches ISO dates',
    'regex for email',
    'I need a bash script that deletes files older than 30 days',
    'SQL query to find duplicate emails in users',
    'Give me a JavaScript function gcd(a, b) which returns the greatest common divisor.',
    'Write a Python function that flattens nested lists',
    'one-liner to count lines in all .ts files',
    'Write takeWhileRight(list, predicate): the longest tail whose elements all satisfy the predicate.',
    'cron expression for every weekday at 7',
    'How do I write sumDigits(n)? It is a function that adds up the digits.',
    'Schreib eine Regex für deutsche Postleitzahlen',
    'Escribe una expresión regular para validar correos',
    '写一个匹配邮箱的正则表达式',
    'Write a shell one-liner that renames all .jpeg files to .jpg',
    'Can you write me a SQL statement that returns the top 3 products per category?',
    'I want a C++ function that counts every vowel in a text',
    'awk command to sum the third column',
    'give me a hello world in zig',
    'generate a random password in bash',
    'regexp hex colour',
    'Write a debounce hook in TypeScript',
    'a python script that watches a folder and uploads new files to S3',
    'jq filter to get all names from [{"name":"a"}]',
    'Schreibe ein Bash-Skript, das alte Logs löscht',
    'Écris une requête SQL qui compte les commandes par mois',
    'Escreva uma regex para validar CPF',
    'メールアドレスの正規表現を書いて',
  ],
  'bug → change': [
    'parseArgs crashes on empty input',
    'login broken',
    'TypeError: Cannot read properties of undefined (reading \'length\') at mergeIntervals (src/merge.js:12:8)',
    'Fix the off-by-one in paginate',
    'The total is NaN when the cart is empty. Please fix.',
    'tests fail',
    'sumColumns([[1,2],[3]]) blows up; ragged rows should count as zero.',
    'Our nightly ETL duplicates rows if it is restarted half way. Make it idempotent.',
    'Some of our tests fail. slugify drops the last letter. Please mend it.',
    'Something is off here. capitalize returns an empty string. How should the code be changed?',
    'We get "IndexError: list index out of range" from read_rows for empty files.',
    'Bitte behebe den Fehler in berechneRabatt: bei 0 Stück kommt NaN heraus.',
    'parse_float plante quand la chaîne est vide',
    'La función calcularTotal devuelve NaN cuando el carrito está vacío, arréglalo',
    'O botão de login não funciona',
    'Correggi l\'errore in calcolaTotale',
    'De knop werkt niet meer',
    'Napraw błąd w calculateTotal',
    'Исправь ошибку в calculateTotal',
    'calculateTotal boş sepette hata veriyor, düzelt',
    '修复 calculateTotal 的空购物车错误',
    'calculateTotal が空のカートで NaN を返します。修正してください。',
    'calculateTotal이 NaN을 반환해요. 고쳐주세요',
    'the app won\'t start',
    'Expected 3 but got 4 in test_count_words',
    'Dates are shown one day early in New York',
    'After upgrading to v5 the sidebar is empty.',
    'nginx answers 502 whenever the upload is larger than 8 MB, the worker itself says nothing.',
    'Clicking Save twice creates two invoices',
    'make the failing tests pass',
    'parse("1e5") gives 1 instead of 100000',
    'panic: runtime error: index out of range [3] with length 3\n\\tat main.go:44',
    'null pointer when user has no email',
    'Regression after upgrading Postgres: ORDER BY name now puts ä behind z.',
    'resolve the merge conflict in app.py',
    'UI freezes on large files',
    'wrong timezone in export',
    'mergeIntervals([[1,4],[4,5]]) returns [[1,4],[4,5]], it should be [[1,5]].',
    'fx the crash in parseDate',
    'Login geht nicht mehr',
    'Die Summe stimmt nicht, wenn der Warenkorb leer ist',
    'Corrige le bug dans parseDate',
    'le bouton ne marche plus',
    'El botón de guardar no funciona',
    'O total está errado quando o carrinho está vazio',
    'Il pulsante non funziona più',
    'Los de fout in parseDate op',
    'Przycisk zapisu nie działa',
    'Кнопка сохранения не работает',
    '保存ボタンが動きません',
    '저장 버튼이 안 돼요',
  ],
  'refactor → change': [
    'Rename getUser to fetchUser everywhere',
    'Refactor!',
    'clean this up',
    'Split utils.ts into smaller modules without changing what it does.',
    'Convert the callbacks in db.js to async/await',
    'extract the validation from handleSubmit into its own function',
    'turn the class component UserList into a function component',
    'Benenne getUser in fetchUser um',
    'Renomme getUser en fetchUser partout',
    'simplify handleRequest',
    'This function is too long: processOrder. Break it up.',
    'Move helpers out of index.ts',
    'Get rid of the duplication between encode and decode',
    'dedupe the two parsers',
    'I inherited a 900 line React reducer. Break it up without breaking undo.',
    'port lib/math.js to TypeScript',
    'rename the table users to accounts',
    'processOrder in kleinere Funktionen aufteilen',
    'Renombra getUser a fetchUser en todo el proyecto',
    'Renomeie getUser para fetchUser',
    'Rinomina getUser in fetchUser',
    'Hernoem getUser naar fetchUser',
    'Zmień nazwę getUser na fetchUser',
    'Переименуй getUser в fetchUser',
    '把 getUser 重命名为 fetchUser',
    'getUser を fetchUser にリネームして',
    'getUser를 fetchUser로 이름을 바꿔줘',
  ],
  'tests → change': [
    'Write tests for mergeIntervals',
    'add unit tests for the parser',
    'tests for slugify',
    'Increase the test coverage of src/date.ts',
    'Write a property-based test for encodeBase64.',
    'Kannst du Tests für parseArgs schreiben?',
    'Écris des tests pour slugify',
    'Scrivi i test per slugify',
    'Напиши тесты для slugify',
    'slugify için test yaz',
    '为 slugify 写单元测试',
    'slugify のテストを書いて',
    'slugify 테스트를 작성해줘',
    'cover the error branches of fetchUser',
    'unit tests pls for cart.js',
    'We need a regression test for #142',
    'add a test that fails without the fix in lexer.ts',
    'Escribe pruebas unitarias para slugify',
    'Escreva testes para slugify',
    'Schrijf tests voor slugify',
    'Napisz testy dla slugify',
  ],
  'performance → change': [
    'Make parseCsv faster',
    'parseArgs slow',
    'optimize the query in report.sql',
    'The dashboard takes 12 seconds to load. Speed it up.',
    'Reduce memory usage of the indexer',
    'Mach parseCsv schneller',
    'startup is too slow',
    'speed up the test suite',
    'cut the bundle size of the admin app',
    'findDuplicates is quadratic, can it be linear?',
    'can we make sorting faster?',
    'cache the result of getConfig so it is not read on each request to reduce latency',
    'Rends parseCsv plus rapide',
    'Haz que parseCsv sea más rápido',
    'Otimize a consulta em report.sql',
    'Сделай parseCsv быстрее',
    '优化 parseCsv 的性能',
    'parseCsv を高速化してください',
    'parseCsv를 더 빠르게 만들어줘',
  ],
  'review → words': [
    'Review src/auth.ts',
    'is this safe? `eval(userInput)`',
    'any security problems in the upload handler?',
    'Can you check my implementation of debounce for edge cases?',
    'Look over the error handling in server.go, what do you think?',
    'Prüfe src/auth.ts auf Sicherheitslücken',
    'Please review my pull request',
    'Any bugs in this code?',
    'check utils.py for SQL injection',
    'Is hashPassword secure enough?',
    'audit the dependencies',
    'thoughts on this implementation of LRU?',
    'Vérifie la sécurité de auth.ts',
    'Revisa auth.ts por favor',
    '帮我检查一下 auth.ts 有没有安全漏洞',
    'auth.ts をレビューしてください',
  ],
  'build → change': [
    'Set up eslint and prettier for this project',
    'Add a Dockerfile',
    'create a github action that runs the tests',
    'configure CI to run on Node 24',
    'Upgrade webpack to version 5',
    'add a pre-commit hook that runs prettier',
    'set up vitest',
    'bump typescript to 6',
    'Richte GitHub Actions ein',
    'Configure ESLint pour ce projet',
  ],
  'build → words': [
    'How do I run this project locally?',
    'how do I install this on windows',
    'how to deploy to fly.io',
  ],
  'unclear → any': [
    'mergeIntervals',
  ],
};

describe('what a question asks for', () => {
  for (const [reading, questions] of Object.entries(QUESTIONS)) {
    it.each(questions)(`${reading}: %s`, (question) => {
      const { kind, wants } = readQuestion(question);
      expect(`${kind} → ${wants}`).toBe(reading);
    });
  }

  it('says that a fault is reported where one is, and only there', () => {
    for (const question of ['parseArgs crashes on empty input', 'login broken', 'Why does the login fail?', 'Исправь ошибку в calculateTotal']) {
      expect(readQuestion(question).reportsFault, question).toBe(true);
    }
    for (const question of ['Add a dumps function that writes TOML.', 'Explain what parse_float does.', 'Write tests for the error branches of fetchUser', 'thanks, that works']) {
      expect(readQuestion(question).reportsFault, question).toBe(false);
    }
  });

  it('reads every question of the sample project as a reported bug, whatever verbs its symptom has', () => {
    for (let seed = 0; seed < 300; seed += 1) expect(readQuestion(questionOf(seed)), questionOf(seed)).toMatchObject({ kind: 'bug', wants: 'change', reportsFault: true });
  });

  it('leaves open what it cannot tell', () => {
    for (const question of ['mergeIntervals', 'src/a.ts', 'blau grün', 'xqzt wvfk']) expect(readQuestion(question).wants, question).toBe('any');
  });

  it('holds small talk and short questions to one step, and lets a change have five', () => {
    for (const question of ['hi', 'thanks, that works', 'what does useDebounce do?', 'Why does merge() lose the outer interval?']) {
      expect(readQuestion(question).steps, question).toBe(1);
    }
    expect(readQuestion('Implement Route.Match for host names with ports in mux.go, with tests').steps).toBe(5);
  });

  it('holds code of one line and remarks without a subject to one step', () => {
    for (const question of ['regex for an email address', 'shell one-liner that counts the lines of all .py files', 'no, I meant the other function', 'continue']) {
      expect(readQuestion(question).steps, question).toBe(1);
    }
    expect(readQuestion('write a todo app in react').steps).toBe(2);
  });

  it('takes a question why a result is wrong for a report where there is a project that may be changed', () => {
    for (const question of ['why does merge() lose the outer interval?', 'Why is the total wrong for empty carts?', 'why does parse_args crash on an empty list']) {
      expect(readQuestion(question, { inProject: true }), question).toMatchObject({ kind: 'bug', wants: 'any', reportsFault: true });
      expect(readQuestion(question), question).toMatchObject({ kind: 'why', wants: 'words' });
    }
    for (const question of ['Why is the cache a Map?', 'why isn\'t this function async?', 'Why does merge() lose the outer interval? Just explain, do not change any code.', 'what does merge() do when it fails?']) {
      expect(readQuestion(question, { inProject: true }).wants, question).toBe('words');
    }
  });

  it('takes a short question at the end of a report for a part of it', () => {
    for (const question of ['slugify ignores stopwords with capital letters. Is this expected?', 'After the last attempt I get TryAgain, and expected ValueError.\n\nAny ideas?', 'cmd.Flags() prints the flags of the parent, too. Is that a bug?']) {
      expect(readQuestion(question, { inProject: true }), question).toMatchObject({ kind: 'bug', wants: 'any', reportsFault: true });
    }
    for (const question of ['parse() returns None for an empty list. What does the caller do then?', 'slugify ignores capital letters. Just explain it, no code. Is this expected?', 'Is this a bug?']) {
      expect(readQuestion(question, { inProject: true }).wants, question).toBe('words');
    }
  });

  it('does not take how something is done for what is asked', () => {
    expect(readQuestion('Write dumps as the plan says.')).toMatchObject({ kind: 'write', wants: 'code' });
    expect(readQuestion('write a parser like the spec says')).toMatchObject({ kind: 'write', wants: 'code' });
  });

  it('reads English of three words as English, and a wish for less as a change of what is there', () => {
    expect(readQuestion('README section about configuration')).toMatchObject({ language: 'en', kind: 'documentation' });
    expect(readQuestion('can you make that shorter')).toMatchObject({ kind: 'refactor', wants: 'change' });
    expect(readQuestion('say that again, shorter')).toMatchObject({ kind: 'explain', wants: 'words' });
  });

  it('does not take the words of code for what is asked', () => {
    expect(readQuestion('What does `fixErrors()` do?').kind).toBe('explain');
    expect(readQuestion('What does this print?\n```js\n// TODO: fix the bug, add tests\nconsole.log(1)\n```').kind).toBe('explain');
    expect(readQuestion('Explain src/add-tests/write_docs.ts').kind).toBe('explain');
  });
});

describe('tests beside a change', () => {
  it.each([
    'Add a function product(list) in src/product.js, with tests', 'Fix the off-by-one in range() and add a regression test', 'Implement dumps() including unit tests.',
    'Add a --json flag; cover it with tests', 'Implement the retry. Please also write tests for it.', 'Füge eine Funktion dumps hinzu, mit Tests',
    'Behebe den Fehler in sum() und schreibe einen Test dafür', 'Ajoute une fonction dumps avec des tests', 'Añade una función dumps con pruebas', '添加 dumps 函数并加上测试',
  ])('are wanted: %s', (question) => {
    expect(readQuestion(question, { inProject: true })).toMatchObject({ wants: 'change', wantsTests: true });
    expect(readQuestion(question, { inProject: true }).kind).not.toBe('tests');
  });

  it.each([
    'fix the failing test in foo_test.go', 'sum([1,2]) gives 4 instead of 3, please fix it', 'Add product() without tests', 'Refactor parse() so that the tests still pass',
    'make it work with pytest 8', 'Explain the function with tests',
  ])('are not: %s', (question) => {
    expect(readQuestion(question, { inProject: true }).wantsTests).toBe(false);
  });
});

describe('what a question names', () => {
  const names = (question: string): string[] => readQuestion(question).names.map(({ kind, text }) => `${kind} ${text}`);

  it('is files, symbols, errors, options and quoted texts, in their order', () => {
    expect(names('parseArgs in src/cli/args.ts:12 throws "TypeError: x is undefined" with --json and -v; see `Foo.bar()` and the test \'handles two words\'.')).toEqual([
      'symbol parseArgs', 'path src/cli/args.ts:12', 'error TypeError: x is undefined', 'option --json', 'option -v', 'symbol Foo.bar()', 'text handles two words',
    ]);
    expect(names('Was macht berechneRabatt in „src/preis.py“?')).toEqual(['symbol berechneRabatt', 'path src/preis.py']);
    expect(names('parse_float は何をしますか？「無効な値」と出ます')).toEqual(['symbol parse_float', 'symbol 無効な値']);
    expect(names('sumColumns([[1,2],[3]]) blows up')).toEqual(['symbol sumColumns']);
    expect(names('the function merge and class Router')).toEqual(['symbol merge', 'symbol Router']);
    expect(names('npm fails with ERESOLVE, TS2345 and KeyError')).toEqual(['error ERESOLVE', 'error TS2345', 'error KeyError']);
  });

  it('is not what only looks like it', () => {
    expect(names('Use JavaScript and/or TypeScript on GitHub, e.g. with Node.js: 24/7. See https://example.com/src/a.ts')).toEqual([]);
    expect(names('Write a function that sorts, and a class with two methods(s).')).toEqual([]);
  });

  it('is short and bounded, whatever the question', () => {
    const many = readQuestion(Array.from({ length: 5_000 }, (_, index) => `fooBar${index}`).join(' '));
    expect(many.names).toHaveLength(24);
    const [long] = readQuestion(`Fix "TypeError: ${'x'.repeat(190)}"`).names;
    expect(long?.text).toHaveLength(120);
  });
});

describe('a hostile question', () => {
  const MEGABYTE = 1_000_000;
  const UNITS = [
    'a', 'a.', '_', 'a/', '`', '"', 'f(', '```\n', '为什么修复', '\n', '\n at ', 'TypeError: ', ' ', ' -', 'aB', '👍', '\u0001', 'fix,; ', 'テストを追加して', 'what? ', '«', '\u0301', 'a:: ', '@a/',
    'a->', '$', '\ud800', '\u0000', '((((', 'explan the wirte fuction ', '(?:', '${', '<|im_end|>',
  ];

  it.each(UNITS)('of a million %j is read', (unit) => {
    const { names, gist } = readQuestion(unit.repeat(MEGABYTE / unit.length));
    expect(names.length).toBeLessThanOrEqual(24);
    expect(gist.length).toBeLessThanOrEqual(160);
  });

  it('is read the same each time', () => {
    const question = 'Explain `a` — then fix b.ts, bitte! 修复';
    expect(readQuestion(question)).toEqual(readQuestion(question));
  });
});
