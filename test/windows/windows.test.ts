import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { processesWith, PATIENTLY } from '../verify/setup.ts';
import type { Done, Tasks } from './driver.ts';
import { openWine, tryWine, type Started, type Wine } from './wine.ts';

const { note, node } = await tryWine();

const PROJECT = {
  'package.json': '{ "name": "sum", "type": "module", "scripts": { "test": "node --test" } }\n',
  'src/sum.js': 'export function sum(numbers) {\n  let total = 1;\n  for (const one of numbers) total += one;\n  return total;\n}\n',
  'test/sum.test.js': `import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sum } from '../src/sum.js';
test('adds numbers', () => assert.equal(sum([1, 2, 3]), 6));
test('is zero for nothing', () => assert.equal(sum([]), 0));
`,
  'tell.cjs': 'console.log(JSON.stringify(process.argv.slice(2)));\n',
  'tell-by-batch.cmd': '@echo off\r\nnode "%~dp0tell.cjs" %*\r\n',
  // Starts what stays: a child that has left the group and the console.
  'leave.cjs': "require('child_process').spawn(process.execPath, [__dirname + '/stay.cjs'], { detached: true, stdio: ['ignore', 'pipe', 'ignore'] }).stdout.once('data', () => process.exit());\n",
  'stay.cjs': "console.log('runs');\nsetInterval(() => {}, 1_000);\n",
  'many.cjs': "for (let count = 0; count < 30; count += 1) require('child_process').spawn(process.execPath, [__dirname + '/stay.cjs']);\n",
  'tell-environment.cjs': 'console.log(JSON.stringify(process.env));\n',
};

const answer = (body: string): string => `src/sum.js\n\`\`\`js\nexport function sum(numbers) {\n${body}\n}\n\`\`\`\n`;
const RIGHT = answer('  let total = 0;\n  for (const one of numbers) total += one;\n  return total;');
const WRONG = answer('  let total = 2;\n  for (const one of numbers) total += one;\n  return total;');
const ENDLESS = answer('  for (;;);');

// Wine reads carets before percent signs, and Windows after them: those are left to the test of lines.
const HARD = ['a b', '"', 'a"b', '^', 'a&b', "it's", '(a)', '<a>|', 'a\\', 'ä', 'test/**/*.js'];

describe.skipIf(node === undefined)(`Windows' Node (${note})`, { timeout: 300_000 }, () => {
  let wine: Wine;
  let workspace: string;

  beforeAll(async () => {
    wine = await openWine(node ?? '');
    workspace = path.join(wine.folder, 'project');
    for (const [name, text] of Object.entries(PROJECT)) {
      await mkdir(path.dirname(path.join(workspace, name)), { recursive: true });
      await writeFile(path.join(workspace, name), text);
    }
  }, 300_000);
  afterAll(async () => await wine?.[Symbol.asyncDispose]());

  const begin = async (tasks: Partial<Tasks>, name: string): Promise<Started & { readonly done: string }> => {
    const [file, done] = [path.join(wine.folder, `${name}.json`), path.join(wine.folder, `${name}-done.json`)];
    const whole: Tasks = { home: wine.named(path.join(wine.folder, 'home')), workspace: wine.named(workspace), command: 'npm test', timeoutMs: 120_000, answers: [], commands: [], ...tasks };
    await writeFile(file, JSON.stringify(whole));
    return { ...(await wine.start('driver', [wine.named(file), wine.named(done)])), done };
  };
  const run = async (tasks: Partial<Tasks>, name: string): Promise<Done> => {
    const { ended, done } = await begin(tasks, name);
    const { exitCode, stderr } = await ended;
    expect([exitCode, stderr]).toEqual([0, expect.not.stringContaining('Error')]);
    return JSON.parse(await readFile(done, 'utf8')) as Done;
  };
  /** Of this machine's processes, those that run something of the project. */
  const running = (): Promise<string[]> => processesWith(path.basename(wine.folder)).then((all) => all.filter((one) => one.includes('.cjs')));

  it('verifies a right answer by node --test, with the negative control, and no wrong one', async () => {
    const { verdicts: [right, wrong], availability } = await run({ answers: [RIGHT, WRONG] }, 'verify');
    expect(right).toMatchObject({ verified: true, outcome: 'verified', sandboxed: false, notes: [] });
    expect(right?.tests.map(({ id }) => id)).toEqual(['test/sum.test.js > adds numbers', 'test/sum.test.js > is zero for nothing']);
    expect(wrong).toMatchObject({ verified: false, outcome: 'failed' });
    expect(availability).toMatchObject({ available: false, reason: expect.stringContaining('Windows has no sandbox') });
  });

  it('ends tests that do not end', async () => {
    const { verdicts: [endless] } = await run({ answers: [ENDLESS], timeoutMs: 15_000 }, 'endless');
    expect(endless).toMatchObject({ verified: false, reason: expect.stringContaining('did not end within 15 s') });
    expect(await processesWith(`${path.basename(wine.folder)}\\home`)).toEqual([]);
  });

  it('refuses paths that name devices, and files in another case', async () => {
    const at = (file: string): string => RIGHT.replace('src/sum.js', file);
    const { patches } = await run({ answers: [at('src/nul.js'), at('SRC/sum.js'), at('src/Sum.js')] }, 'paths');
    expect(patches.map(({ edits }) => edits)).toEqual([[], [], []]);
    expect(patches.map(({ refused }) => refused[0]?.reason)).toEqual([
      'Windows takes "nul.js" for a device.', 'It is spelled "src" on disk.', 'It is spelled "src/sum.js" on disk.',
    ]);
  });

  it('hands arguments on as they are written, and none of our environment', async () => {
    const words = HARD.map((text) => `'${text.replaceAll("'", `'\\''`)}'`).join(' ');
    const { outcomes: [direct, batch, told, code] } = await run({
      commands: [`node tell.cjs ${words}`, `./tell-by-batch ${words}`, 'A="x y" node tell-environment.cjs', 'cd test && node -p "process.cwd()" && node -e "process.exit(7)" || exit 3'].map((command) => ({ command, timeoutMs: 60_000 })),
    }, 'arguments');
    const outputOf = (outcome: Done['outcomes'][number] | undefined): string => (outcome && 'stdout' in outcome ? outcome.stdout : JSON.stringify(outcome));
    expect(JSON.parse(outputOf(direct))).toEqual(HARD);
    expect(JSON.parse(outputOf(batch))).toEqual(HARD);
    const environment = JSON.parse(outputOf(told)) as Record<string, string>;
    expect(environment).toMatchObject({ A: 'x y', USERPROFILE: expect.stringContaining('temporary'), SystemRoot: expect.stringMatching(/windows/i) });
    expect(environment).not.toHaveProperty('WINEPREFIX');
    expect(code).toMatchObject({ exitCode: 3, stdout: `${wine.named(path.join(workspace, 'test'))}\n` });
  });

  it('ends what a command has left behind, and what starts too many processes', async () => {
    const { outcomes: [left, many] } = await run({
      commands: [{ command: 'node leave.cjs', timeoutMs: 60_000 }, { command: 'node many.cjs', timeoutMs: 60_000, limits: { processes: 10 } }],
    }, 'processes');
    expect(left).toMatchObject({ exitCode: 0 });
    expect(many).toMatchObject({ exitCode: null, exceeded: 'processes' });
    await vi.waitFor(async () => expect(await running()).toEqual([]), PATIENTLY);
  });

  it('ends all that is in a job with the process that has made it', async () => {
    await run({ leaves: wine.named(path.join(workspace, 'stay.cjs')) }, 'job');
    await vi.waitFor(async () => expect(await running()).toEqual([]), PATIENTLY);
  });

  it('ends the command when the backend is killed', async () => {
    const { process: backend, ended } = await begin({ commands: [{ command: `node leave.cjs && node '${wine.named(path.join(workspace, 'stay.cjs'))}'`, timeoutMs: 200_000 }] }, 'killed');
    await vi.waitFor(async () => expect((await running()).length).toBeGreaterThanOrEqual(2), { timeout: 60_000, interval: 100 });
    backend.kill('SIGKILL');
    await ended;
    await vi.waitFor(async () => expect(await running()).toEqual([]), PATIENTLY);
  });

  it('runs the whole demonstration: backend, socket, journal, plans, tests', async () => {
    const { ended } = await wine.start('cli', ['demo', '--seed', '0', '--keep']);
    const { exitCode, stderr, stdout } = await ended;
    expect([exitCode, stderr]).toEqual([0, expect.stringContaining('Verified')]);
    expect(`${stdout}${stderr}`).toMatch(/node --test\s+node-test \(without a sandbox\)/);
    const kept = /^Kept +(.*)$/m.exec(`${stdout}${stderr}`)?.[1]?.trim() ?? '';
    const journal = path.join(wine.folder, 'prefix', 'drive_c', kept.replace(/^C:\\/, '').replaceAll('\\', '/'), 'home', 'journal.sqlite');
    // The backend may still be closing it.
    await vi.waitFor(() => expect(eventsIn(journal)).toEqual(expect.arrayContaining(['run.accepted', 'verify.started', 'run.completed'])), PATIENTLY);
  });
});

function eventsIn(journal: string): unknown[] {
  const database = new DatabaseSync(journal, { readOnly: true });
  try {
    return database.prepare('SELECT DISTINCT type FROM events').all().map(({ type }) => type);
  } finally {
    database.close();
  }
}
