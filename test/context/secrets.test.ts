import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isSecretFile } from '../../backend/common/secrets/secret-files.ts';
import { redact, SECRET_MARKER } from '../../backend/common/secrets/secrets.ts';
import { gather, paths, workspaceWith } from './workspaces.ts';

/* The keys below are made up, and put together here so that no scanner takes this file for a leak. */
const made = (prefix: string, length: number): string => prefix + 'a1B2c3D4e5F6g7H8i9J0'.repeat(20).slice(0, length);

describe('names of files', () => {
  test.each([
    '.env', '.env.local', 'config/.env.production', 'prod.env', '.envrc', 'server.pem', 'tls/server.key', 'store.p12',
    'id_rsa', 'id_ed25519', '.npmrc', '.netrc', '.pypirc', '.aws/credentials', 'home/.ssh/config', 'credentials.json',
    'secrets.yml', 'secrets.prod.json', 'service-account-prod.json', 'terraform.tfstate', 'prod.tfvars', '.ENV',
    'ID_RSA', '.docker/config.json', '.git-credentials', '.m2/settings.xml', 'infra/backup.agekey', '.bash_history', 'vpn/home.ovpn',
    '.cargo/credentials.toml', 'config/master.key', 'wp-config.php', '.password-store/bank.gpg',
  ])('%s holds secrets', (file) => expect(isSecretFile(file)).toBe(true));

  test.each([
    '.env.example', '.env.sample', '.env.local.example', 'id_rsa.pub', 'src/secrets.ts', 'environment.ts', 'keyboard.js',
    'credentials.ts', 'config.json', 'monkey', 'README.md', '.dockerignore', '.docker/Dockerfile', 'token.go',
  ])('%s does not', (file) => expect(isSecretFile(file)).toBe(false));
});

describe('lines', () => {
  test.each([
    ['a model provider\'s key', `OPENAI_API_KEY=${made('sk-proj-', 40)}`],
    ['a model provider\'s key', `client = new Client('${made('sk-ant-api03-', 80)}')`],
    ['a Google key', made('AIza', 35)],
    ['a Hugging Face token', made('hf_', 34)],
    ['an AWS key', `id: ${'AKIA'}${'ABCDEFGHIJ234567'}`],
    ['an AWS key', `aws_secret_access_key = ${'kJbvTnEwQzXcRmLpSdFgHyUi'}${'/OaWeBtNxZqMvKl7'}`],
    ['an AWS key', `"SecretAccessKey": "${'kJbvTnEwQzXcRmLpSdFgHyUi'}${'/OaWeBtNxZqMvKlP'}"`],
    ['a bearer token', `curl -H 'Authorization: Bearer ${made('', 32)}'`],
    ['a GitHub token', made('ghp_', 36)],
    ['a GitHub token', made('github_pat_', 60)],
    ['a GitLab token', made('glpat-', 20)],
    ['a Slack token', made('xoxb-', 30)],
    ['an npm token', made('npm_', 36)],
    ['a Stripe key', made('sk_live_', 24)],
    ['a signed token', `Bearer ${made('eyJ', 30)}.${made('eyJ', 60)}.${made('', 40)}`],
    ['an Azure key', `AccountName=x;AccountKey=${made('', 86)}==`],
    ['an address with a password', 'postgres://admin:hunter2x@db.example.com/app'],
    ['a password or token', `  "password": "${made('', 24)}",`],
    ['a password or token', `const apiKey = '${made('', 32)}';`],
    ['a password or token', `client_secret: ${made('', 32)}`],
    ['a GitLab token', `RUNNER=${made('glrt-', 20)}`],
    ['a DigitalOcean token', `token = "${'dop_v1_'}${'0123456789abcdef'.repeat(4)}"`],
    ['a Telegram token', `bot(${'123456789'}:${'AA'}${made('', 33)})`],
    ['a Shopify token', `${'shpat_'}${'0a1b2c3d4e5f6789'.repeat(2)}`],
    ['a Postman key', `${'PMAK-'}${'0a1b2c3d'.repeat(3)}-${'0a1b2c3d4e'.repeat(4)}`],
    ['an age key', `${'AGE-SECRET-KEY-'}1${'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L'.repeat(2)}`],
    ['a signed token', `${'ZXlK'}${made('', 60)}`],
    ['an address of a webhook', `https://hooks.slack.com/services/${made('', 44)}`],
    ['an address with a password', 'redis://:hunter2x@cache.internal:6379'],
    ['a password or token', `System.setProperty("API_TOKEN", "${made('', 24)}")`],
    ['a password or token', `private String accessToken = "${made('', 24)}";`],
    ['a password or token', `var apiKey string = "${made('', 24)}"`],
    ['a password or token', `$secret .= '${made('', 24)}';`],
    ['a password or token', `API_TOKEN ?= ${made('', 24)}`],
    ['a password or token', `  'token' => '${made('', 24)}',`],
    ['a password or token', `<apiToken>${made('', 24)}</apiToken>`],
    ['a password or token', `{"config": "TOKEN=${made('', 24)}\\nDEBUG=1"}`],
    ['a password or token', '<add key="ClearTextPassword" value="Tr0ub4dor&3" />'],
    ['a password or token', "password = 'Tr0ub4dor&3'"],
    ['a password or token', 'curl -u deploy:hunter2x https://example.com'],
    ['a password or token', `Authorization: Basic ${btoa('deploy:hunter2x')}`],
  ])('%s is replaced: %#', (kind, line) => {
    const { lines, secrets } = redact(['before', line, 'after']);
    expect(lines).toEqual(['before', SECRET_MARKER, 'after']);
    expect([...secrets]).toEqual([[2, kind]]);
  });

  test.each([
    'const key = process.env.OPENAI_API_KEY;',
    'headers.authorization = `Bearer ${await tokens.current(request.user)}`;',
    'Authorization: Bearer YOUR_ACCESS_TOKEN_GOES_HERE',
    'the bearer of a certificate is whoever shows it in 2026',
    'const secretAccessKey = configuration.get("secretAccessKey");',
    "password: z.string().min(12, 'too short')",
    '<div class="sk-loading-spinner-container-wide">',
    'const accessToken = createAccessTokenFor(user, session.identifier);',
    "token = 'your-api-key-goes-right-here'",
    'git clone https://github.com/owner/name.git',
    'postgres://user:${PASSWORD}@localhost/app',
    'http://localhost:8080/@scope/name',
    'integrity sha512-abcdefghijklmnopqrstuvwxyz0123456789==',
    '-----BEGIN PUBLIC KEY-----',
    'const secretCount = secrets.length + 20;',
    "password: 'password123'",
    `Authorization: Basic ${btoa('username:password')}`,
    `credentialsId: '${'29f63271-dc2f-4734-8221'}-5b31b5169bac'`,
    `publicKey: '${made('', 40)}'`,
    'const tokens = tokenize(source, { ecmaVersion: 2026 });',
    "expect(tokens).toEqual([{ type: 'keyword', value: 'function1' }]);",
    'curl -u $USER:$PASSWORD https://example.com',
    '  hf_required_characteristic_types = 3',
    '  token: ${{ secrets.GITHUB_TOKEN }}',
    'import { secretIn } from "./secrets/v2/index.js";',
  ])('an ordinary line stays: %s', (line) => expect(redact([line]).lines).toEqual([line]));

  test('a private key goes from its first line to its last, and to where it looks like none when it has no last', () => {
    const begin = `-----BEGIN ${'RSA PRIVATE KEY'}-----`;
    const end = `-----END ${'RSA PRIVATE KEY'}-----`;
    const body = made('', 64);
    expect(redact(['a', begin, body, body, end, 'b']).lines).toEqual(['a', ...Array<string>(4).fill(SECRET_MARKER), 'b']);
    const cut = redact([begin, body, 'function after() {', body]);
    expect(cut.lines).toEqual([SECRET_MARKER, SECRET_MARKER, 'function after() {', body]);
    expect(redact([`${begin}\\n${body}\\n${end}`, 'b']).lines).toEqual([SECRET_MARKER, 'b']);
  });

  test('a value in the line after its name is replaced, and the tags around it stay', () => {
    expect(redact(['<apiToken>', `  ${made('', 24)}`, '</apiToken>']).lines).toEqual(['<apiToken>', SECRET_MARKER, '</apiToken>']);
    expect(redact(['const order = [', `  "${made('', 24)}",`, ']']).secrets.size).toBe(0);
  });

  test('what a Secret of Kubernetes holds is replaced, and its name stays', () => {
    const manifest = ['apiVersion: v1', 'kind: Secret', 'metadata:', '  name: db', 'data:', '  user: YWRtaW4=', '  words: cGFzcw==', 'type: Opaque'];
    expect([...redact(manifest).secrets.keys()]).toEqual([6, 7]);
    expect(redact(manifest.with(1, 'kind: ConfigMap')).secrets.size).toBe(0);
    expect(redact(['kind: Secret', 'data:', '  user: {{ .Values.user }}']).secrets.size).toBe(0);
  });

  test('no text changes the number of lines, and a megabyte in one line is quick', () => {
    fc.assert(fc.property(fc.array(fc.string({ unit: 'binary' })), (lines) => {
      expect(redact(lines).lines).toHaveLength(lines.length);
    }));
    for (const unit of ['sk-', 'eyJ-', 'a', 'password=', '-----BEGIN ', 'x://a:', 'secret ', 'A1', 'token.a', 'curl -u ', 'passwordapi_key_token', 'eyJrIjoi1', 'a1b2c3.d4e5-']) {
      redact([unit.repeat(1_000_000 / unit.length)]);
    }
  });
});

describe('in a context', () => {
  const key = made('sk-', 40);

  test('a secret file is left out even when a person named it, and the search passes it by', async () => {
    const workspace = workspaceWith({ '.env': `uniqueSetting_1=${key}\n`, 'secrets.yml': `uniqueSetting_1: ${key}\n` });
    const context = await gather(workspace, { question: 'uniqueSetting_1', files: [{ path: '.env' }] });
    expect(paths(context)).toEqual([]);
    expect(context.leftOut).toEqual([{ path: '.env', reason: 'its name says that it holds secrets' }]);
  });

  test('a line with a secret is replaced wherever it comes from, and it is said', async () => {
    const workspace = workspaceWith({ 'a.js': `const one = 1;\nconst key = '${key}';\n` });
    const context = await gather(workspace, {
      files: [{ path: 'a.js' }], testOutput: `Authorization: ${key}`,
      diagnostics: [{ path: 'a.js', line: 2, severity: 'warning', message: `hard-coded ${key}` }],
    });
    expect(context.text).not.toContain(key);
    expect(context.text).toContain(`const one = 1;\n${SECRET_MARKER}\n`);
    const reason = 'looks like a model provider\'s key';
    expect(context.leftOut).toEqual([
      { path: 'a.js', reason: `line 2: ${reason}` },
      { path: '(test output)', reason: `line 1: ${reason}` },
      { path: '(problems)', reason: `line 1: ${reason}` },
    ]);
  });

  test('a selection that begins inside a private key shows none of it', async () => {
    const body = made('', 64);
    const key = [`-----BEGIN ${'PRIVATE KEY'}-----`, body, body, `-----END ${'PRIVATE KEY'}-----`];
    const file = ['// key', ...key, ...Array<string>(300).fill('x')].join('\n');
    const context = await gather(workspaceWith({ 'a.js': file }), { selection: { path: 'a.js', startLine: 3, endLine: 4 } });
    expect(context.text).not.toContain(body);
    expect(context.leftOut).toEqual([{ path: 'a.js', reason: 'lines 3, 4: looks like a private key' }]);
  });
});

describe('secrets in disguise', () => {
  const token = made('ghp_', 36);
  const jwt = `${made('eyJ', 30)}.${made('eyJ', 60)}.${made('', 40)}`;
  const cases: Record<string, readonly string[]> = {
    'in base64': [`AssertionError: '${btoa(token)}' != ''`],
    'in base64 with its name': [`got ${btoa(`API_TOKEN=${made('', 24)}`)}`],
    'in hex': [`got ${Buffer.from(token).toString('hex')} instead`],
    'with signs of an address': [`https://example.com/?q=${token.replaceAll('_', '%5F')}`],
    'with colours between': [`\x1b[32m${token.slice(0, 9)}\x1b[7m${token.slice(9)}\x1b[0m`],
    'put together': [`const it = '${token.slice(0, 12)}' + '${token.slice(12)}';`],
    'with a written line break': [`'${token.slice(0, 12)}\\n${token.slice(12)}'`],
    'over two lines': [`expected '${token.slice(0, 12)}`, `${token.slice(12)}' to be undefined`],
    'over two lines of a diff': [`E    '${token.slice(0, 12)}`, `E    ${token.slice(12)}'`],
    'over lines in base64': (btoa(jwt).match(/.{1,40}/g) ?? []).map((part) => `  ${part}`),
    'long, over lines': (jwt.match(/.{1,50}/g) ?? []),
    'a key whose beginning is cut off': ['FdXv7Rt5Wp1Zm9FdXv7Rt5Wp1Zm9', 'Xv7Rt5Wp1Zm9==', `-----END ${'RSA PRIVATE'} KEY-----`],
    'a key in lines with a mark': [`> -----BEGIN ${'RSA PRIVATE'} KEY-----`, '> FdXv7Rt5Wp1Zm9FdXv7Rt5Wp1Zm9', '> q1Z=', `> -----END ${'RSA PRIVATE'} KEY-----`],
  };

  test.each(Object.entries(cases))('%s', (_, lines) => {
    expect(redact(['What came:', ...lines, 'and more.']).lines).toEqual(['What came:', ...lines.map(() => SECRET_MARKER), 'and more.']);
  });

  test.each([
    ['iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ'], ['da39a3ee5e6b4b0d3255bfef95601890afd80709'], [btoa('the quick brown fox jumps over 13 lazy dogs')],
    ['expected 12 to be 13', 'at Object.<anonymous> (test/a.test.ts:3:5)'], ['from shop.totals1 import \\', 'total_of_items2'],
  ])('ordinary lines stay: %#', (...lines) => expect(redact(lines).lines).toEqual(lines));

  test('a long line without an end takes no time', () => {
    const began = process.cpuUsage();
    for (const part of ['a1B', '-- ', '"+"', '%41', 'A1b2/']) redact([part.repeat(200_000), part.repeat(200_000)]);
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(5_000);
  });

  test('nor does a long list of short lines, each of which the next ones could continue', () => {
    const began = process.cpuUsage();
    for (const line of ['10342', 'gammas', 'SomeName', 'item34', `${'Qm9yZWQ5'.repeat(9)}=`]) redact(Array.from({ length: 4_000 }, () => line));
    expect(process.cpuUsage(began).user / 1_000).toBeLessThan(10_000);
  });

  test('a key that is broken over the first lines of a long list is found', () => {
    const parts = ['sk-ant-a', 'B3xY9kQa', 'B3xY9kQ2'];
    const list = Array.from({ length: 100 }, (_, at) => `item${at}`);
    expect(redact([...parts, ...list]).lines).toEqual([...parts.map(() => SECRET_MARKER), ...list]);
  });
});
