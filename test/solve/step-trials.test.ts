import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import type { Checker } from '../../backend/solve/checker.ts';
import { triedOf } from '../../backend/protocol/run-facts.ts';
import { snapshotOf } from '../../backend/protocol/fold-run.ts';
import { keptOnRetry } from '../../backend/solve/kept-events.ts';
import { promptOf } from '../../backend/solve/step-prompt.ts';
import { PatchNotApplicableError } from '../../backend/verify/patch/apply-patch.ts';
import { parsePatch } from '../../backend/verify/patch/parse-patch.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { drivenRun, NO_TESTS } from './driven-run.ts';

/* What a step is told of the changes that it reads. The tests themselves are scripted; test/hands and test/verify have real ones. */

const plan = (...reads: readonly (readonly number[])[]): string =>
  `model_id = [${reads.map(() => 0).join(', ')}]\nsubtasks = [${reads.map((_, index) => `"Mend the constant a in src/a.js, way ${index}."`).join(', ')}]\naccess_list = [${reads.map((of) => `[${of.join(', ')}]`).join(', ')}]`;
const change = (value: string): string => `Here:\n\`\`\`js src/a.js\nexport const a = ${value};\n\`\`\``;

type Tries = NonNullable<Checker['tryTests']>;
type Patched = Parameters<Tries>[0]['patch'];
const afterOf = ({ edits }: Patched): string => edits[0]?.after?.trim() ?? '';

/** The test of `a` passes where it is 2. */
const judged: Tries = async ({ patch }) => ({
  results: [
    { id: 'a.test.js > a is 2', kind: 'test', status: afterOf(patch).includes('= 2;') ? 'passed' : 'failed', ...(!afterOf(patch).includes('= 2;') && { message: 'expected 2' }) },
    { id: 'a.test.js > a is a number', kind: 'test', status: 'passed' },
  ],
  exitCode: afterOf(patch).includes('= 2;') ? 0 : 1, said: '',
});

const checkerWith = (tryTests?: Tries): Checker => ({
  ...NO_TESTS,
  findTestCommands: async () => [{ command: 'node --test', runner: 'node-test', folder: '' }],
  parsePatch: (answer, folder, candidates) => parsePatch(answer, folder, { candidates }),
  verify: async () => ({ verified: false, score: 0.5, outcome: 'failed', reason: 'Red.', tests: [], notes: [], command: 'node --test', sandboxed: true, durationMs: 1 }),
  ...(tryTests && { tryTests }),
});

async function project(): Promise<string> {
  const folder = await temporaryFolder();
  await mkdir(path.join(folder, 'src'));
  await writeFile(path.join(folder, 'src/a.js'), 'export const a = 1;\n');
  return folder;
}

it('tries each change that a later step reads beside another, while they wait, and tells the reader of each which tests pass and fail', async () => {
  const begun: string[] = [];
  const { asked, drive, events } = await drivenRun([
    plan([], [], [], [0, 1, 2]), change('3'), change('2'), 'I would look at the constant.', change('2'),
  ], { workspace: await project() });
  const run = await drive({ checker: checkerWith(async (request) => { begun.push(afterOf(request.patch)); return await judged(request); }) });
  expect(begun.toSorted()).toEqual(['export const a = 2;', 'export const a = 3;']);
  const prompt = asked.at(-1)?.join('') ?? '';
  expect(prompt).toMatch(/a = 3;[\s\S]*<tests_with_this_change>\n1 test passed, 1 failed\. The command ended with exit code 1\.\nFAILED a\.test\.js > a is 2\n {2}expected 2\npassed a\.test\.js > a is a number\n<\/tests_with_this_change>/);
  expect(prompt).toMatch(/a = 2;[\s\S]*<tests_with_this_change>\n2 tests passed, 0 failed\./);
  expect(prompt.match(/<tests_with_this_change>/g)).toHaveLength(2);
  // What is shown later is what was sent.
  expect(promptOf(run, 0, 3)?.[0]?.content).toBe(prompt);
  expect(run.rounds[0]?.steps.map(({ trial }) => trial?.result && [trial.result.passed, trial.result.failed])).toEqual([[1, 1], [2, 0], undefined, undefined]);
  // A step that is asked again is told the same.
  const kept = keptOnRetry(events(), { round: 0, step: 3 });
  expect(kept.filter(({ type }) => type === 'step.tried')).toHaveLength(2);
  expect(triedOf(snapshotOf(events()).rounds[0] ?? { steps: [] }, [0, 1]).size).toBe(2);
});

it.each([
  ['alone', plan([], [0])],
  ['beside an output that changes nothing', plan([], [], [0, 1])],
  ['nowhere', plan([], [], [])],
])('runs nothing for a change that is read %s', async (_name, text) => {
  const { asked, drive, events } = await drivenRun([text, change('3'), 'Just words.', change('2')], { workspace: await project() });
  await drive({ checker: checkerWith(judged) });
  expect(asked.join('')).not.toContain('tests_with_this_change');
  expect(events().filter(({ event }) => event.type === 'step.tried' || (event.type === 'step.trying' && text.includes('[0, 1]')))).toEqual([]);
});

it.each<[string, Partial<Checker>, string]>([
  ['there are no tests', { findTestCommands: async () => [], tryTests: judged }, 'no test command of this project is known.'],
  ['a change does not apply any more', { tryTests: () => Promise.reject(new PatchNotApplicableError('src/a.js', 'it was changed.')) }, 'The change cannot be written to src/a.js: it was changed.'],
  ['the tests take too long', { tryTests: async () => ({ results: [], exitCode: null, said: '', problem: 'The tests took longer than 120 s.\nand more' }) }, 'The tests took longer than 120 s.'],
  ['the machine fails', { tryTests: () => Promise.reject(new Error('out of order')) }, 'Unexpected error'],
])('says in one line why there are no results where %s, and goes on', async (_name, checker, words) => {
  const { asked, drive } = await drivenRun([plan([], [], [0, 1]), change('3'), change('4'), change('2')], { workspace: await project() });
  const run = await drive({ checker: { ...checkerWith(), ...checker } });
  expect(run.state).toBe('completed');
  const told = [...(asked.at(-1)?.join('') ?? '').matchAll(/<tests_with_this_change>\n(.*)\n<\/tests_with_this_change>/g)].map(([, line]) => line);
  expect(told).toHaveLength(2);
  expect(told[0]).toContain('The tests were not run with it: ');
  if (words !== 'Unexpected error') expect(told[0]).toContain(words);
});

it('says of an attempt that cannot be read as a whole that it was not tried', async () => {
  const torn = `${change('3')}\n\nsrc/a.js\n\`\`\`js src/b.js\n<<<<<<< SEARCH\nnowhere\n=======\nx\n>>>>>>> REPLACE\n\`\`\``;
  const { asked, drive } = await drivenRun([plan([], [], [0, 1]), torn, change('2'), change('2')], { workspace: await project() });
  await drive({ checker: checkerWith(judged) });
  expect(asked.at(-1)?.join('')).toMatch(/The tests were not run with it: its change of src\/b\.js cannot be read: /);
});

it('leaves out lines that look like a secret, and bounds what is said of one attempt', async () => {
  const key = `sk-ant-api03-${'k'.repeat(60)}`;
  const { asked, drive } = await drivenRun([plan([], [], [0, 1]), change('3'), change('4'), change('2')], { workspace: await project() });
  await drive({ checker: checkerWith(async () => ({
    results: Array.from({ length: 200 }, (_, index) => ({ id: `t ${index}`, kind: 'test' as const, status: 'failed' as const, message: `key = "${key}"\n${'long '.repeat(200)}` })),
    exitCode: 1, said: '',
  })) });
  const prompt = asked.at(-1)?.join('') ?? '';
  expect(prompt).not.toContain(key);
  expect(prompt.length).toBeLessThan(14_000);
});

it('does not try again what was tried when the run goes on, and tries what was not', async () => {
  const workspace = await project();
  const { drive, events } = await drivenRun([plan([], [], [0, 1]), change('3'), change('4'), () => Promise.reject(new Error('killed')), change('2')], { workspace });
  const tried: string[] = [];
  const checker = checkerWith(async (request) => {
    tried.push(afterOf(request.patch));
    return await judged(request);
  });
  expect((await drive({ checker })).state).toBe('failed');
  expect(tried).toHaveLength(2);
  await drive({ checker });
  expect(tried).toHaveLength(2);
  expect(events().filter(({ event }) => event.type === 'step.tried')).toHaveLength(2);
});

it('ends what nobody waits for any more, without a word of it', async () => {
  const [begun, ended] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const { drive, events } = await drivenRun([plan([], [], [0, 1]), change('3'), async () => {
    await begun.promise;
    throw new Error('refused');
  }], { workspace: await project() });
  const run = await drive({ checker: checkerWith(({ signal }) => new Promise((_resolve, reject) => {
    begun.resolve();
    signal.addEventListener('abort', () => {
      ended.resolve();
      reject(signal.reason as Error);
    }, { once: true });
  })) });
  await ended.promise;
  expect(run.state).toBe('failed');
  expect(events().map(({ event: { type } }) => type)).toContain('step.trying');
  expect(events().map(({ event: { type } }) => type)).not.toContain('step.tried');
});
