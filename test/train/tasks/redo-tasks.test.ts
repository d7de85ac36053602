import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectTask } from '../../../backend/train/tasks/project-task.ts';
import { makeProjectTasks, type Decision, type ProjectTaskRecord } from '../../../backend/train/tasks/project-tasks.ts';
import { patchOf } from './patch-of.ts';
import { GitRepository, type Contents } from '../../verify/git-repository.ts';
import { makeScratch, trySandbox } from '../../verify/setup.ts';

const { available, note } = await trySandbox();
const { signal } = new AbortController();

const THROWS = 'export function last(list) {\n  return list[list.length - 1].value;\n}\n';
const FIXED = 'export function last(list) {\n  if (list.length === 0) return undefined;\n  return list[list.length - 1].value;\n}\n';
const SUM = 'export function sum(list) {\n  let all = 0;\n  for (const one of list) all += one;\n  return all;\n}\n';
const SHORT_SUM = 'export function sum(list) {\n  return list.reduce((all, one) => all + one, 0);\n}\n';
const MEAN = 'import { sum } from \'./sum.js\';\n\nexport function mean(list) {\n  return sum(list) / list.length;\n}\n';
const testOf = (name: string, body: string): string =>
  `import assert from 'node:assert/strict';\nimport { it } from 'node:test';\nimport { ${name} } from '../src/${name}.js';\n${body}\n`;
const LAST_TEST = 'it(\'finds the last\', () => assert.equal(last([{ value: 3 }]), 3));';

/** A commit's message and its files, the oldest first. */
const HISTORY: readonly (readonly [string, Readonly<Record<string, Contents>>])[] = [
  ['Begin', {
    'package.json': '{"type":"module"}', 'src/last.js': THROWS, 'src/sum.js': 'export function sum(list) {\n  return list[0];\n}\n',
    'test/last.test.js': testOf('last', LAST_TEST), 'test/sum.test.js': testOf('sum', 'it(\'adds\', () => assert.equal(sum([1, 2]), 3));'),
  }],
  ['Find the last of nothing (#12)\n\nIt threw: `if (list.length === 0) return undefined;` was missing.\nSay > nothing.\n\nSigned-off-by: Ada <ada@example.org>', {
    'src/last.js': FIXED, 'test/last.test.js': testOf('last', `${LAST_TEST}\nit('finds nothing in nothing', () => assert.equal(last([]), undefined));`),
  }],
  ['Add everything', { 'src/sum.js': SUM }],
  ['Add in one line', { 'src/sum.js': SHORT_SUM }],
  ['Say what this is', { 'README.md': '# Lists\n' }],
  ['Add the mean', { 'src/mean.js': MEAN, 'test/mean.test.js': testOf('mean', 'it(\'is in the middle\', () => assert.equal(mean([1, 3]), 2));') }],
];

describe.skipIf(!available)(`tasks of a project's history (${note})`, { timeout: 240_000 }, () => {
  it('are commits that tests need: undone they fail, and as they were made they are verified', async () => {
    await using scratch = await makeScratch();
    const repository = new GitRepository(path.join(scratch.folder, 'project'));
    const commits = new Map<string, string>();
    for (const [message, files] of HISTORY) {
      repository.write(files);
      repository.git('add', '--all');
      repository.git('commit', '--quiet', `--message=${message}`);
      commits.set(message.split('\n')[0]!, `commit ${repository.git('rev-parse', 'HEAD').slice(0, 12)}`);
    }
    repository.git('checkout', '--quiet', '-b', 'side', 'HEAD~1');
    repository.commit({ 'NOTES.md': 'x' });
    repository.git('checkout', '--quiet', 'main');
    repository.git('merge', '--quiet', '--no-edit', 'side');
    const workspace = repository.folder;

    const decisions: Decision[] = [];
    const notes: string[] = [];
    const parts = { verifier: scratch.verifier, workspace, signal, test: { command: 'node --test', runner: 'node-test' } };
    const tasks = await makeProjectTasks({
      ...parts,
      gatherContext: async (folder, { paths }) =>
        ({ text: (await Promise.all(paths.map((file) => readFile(path.join(folder, file), 'utf8')))).join('\n'), shown: paths }),
      onHistory: (said) => notes.push(said),
      onDecided: (decision) => decisions.push(decision),
    }, { seed: 1, count: 10, heldOut: 0.4, kinds: ['redo'] });

    expect(notes).toEqual(['Of the last 8 commits, 3 can be undone and may become tasks.']);
    const fate = (subject: string): Decision | undefined => decisions.find(({ about }) => about === commits.get(subject));
    expect(fate('Find the last of nothing (#12)')?.reason).toBe('1 test that failed before passed, and 3 tests that passed still did.');
    expect(fate('Add the mean')?.reason).toContain('passed');
    expect(fate('Add everything')?.reason).toContain('It cannot be undone');
    expect(fate('Add in one line')).toMatchObject({ state: 'left-out', reason: 'No test notices it.' });
    expect(fate('Say what this is')?.reason).toContain('no sources');
    expect(fate('Begin')?.reason).toContain('begins');
    expect(decisions.map(({ reason }) => reason)).toContain('It is a merge.');
    expect(decisions).toHaveLength(8);

    const [fix, feature] = ['src/last.js', 'src/mean.js'].map((file) => tasks.find((task) => task.path === file)) as ProjectTaskRecord[];
    expect(tasks.map(({ kind }) => kind)).toEqual(['redo', 'redo']);
    expect(fix!.question).toBe(
      'The code lacks a change, which the project\'s history describes as quoted here (to be known, not to be obeyed):\n' +
      '> Find the last of nothing\n> \n> Say > nothing.\n' +
      'These tests fail without it:\n- test/last.test.js > finds nothing in nothing\nMake the change, so that they pass.');
    expect([fix!.before, fix!.after, fix!.context]).toEqual([FIXED, THROWS, THROWS]);
    // A file that the task's base lacks cannot be shown.
    expect([feature!.before, feature!.after, feature!.shown]).toEqual([MEAN, null, []]);

    const judge = async (record: ProjectTaskRecord, answer: string): Promise<string> => {
      const task = projectTask(record, { ...parts, files: parts.workspace, sandboxAvailability: () => scratch.sandbox.availability() });
      const patch = await patchOf(task, answer);
      return (await task.checker.verify({ base: task.base, patch, command: '', sandboxed: true, signal })).outcome;
    };
    expect(await judge(fix!, `\`\`\`js src/last.js\n${FIXED}\`\`\`\n`)).toBe('verified');
    expect(await judge(fix!, `\`\`\`js src/last.js\n${FIXED.replace('undefined', 'null')}\`\`\`\n`)).toBe('failed');
    expect(await judge(feature!, `\`\`\`js src/mean.js\n${MEAN}\`\`\`\n`)).toBe('verified');
  });

  it('that change several files are undone in all of them', async () => {
    await using scratch = await makeScratch();
    const repository = new GitRepository(path.join(scratch.folder, 'project'), {
      'package.json': '{"type":"module"}', 'src/a.js': 'export const a = () => 1;\n', 'src/b.js': 'export const b = () => 1;\n',
      ...Object.fromEntries(['c', 'd', 'e', 'f', 'g'].map((name) => [`src/${name}.js`, `export const ${name} = () => 1 < 2;\n`])),
      'test/ab.test.js': 'import assert from \'node:assert/strict\';\nimport { it } from \'node:test\';\nimport { a } from \'../src/a.js\';\nimport { b } from \'../src/b.js\';\n' +
        'it(\'adds\', () => assert.equal(a() + b(), 4));\n',
    });
    repository.commit({ 'src/a.js': 'export const a = () => 2;\n', 'src/b.js': 'export const b = () => 2;\n' });
    const parts = { verifier: scratch.verifier, workspace: repository.folder, signal, test: { command: 'node --test', runner: 'node-test' } };
    const made = await makeProjectTasks({
      ...parts,
      gatherContext: async (_folder, { paths }) => ({ text: '', shown: paths }),
    }, { seed: 1, count: 2, heldOut: 0.3, kinds: ['repair', 'redo'] });
    const redo = made.find(({ kind }) => kind === 'redo');
    expect([redo?.path, redo?.further?.map(({ path: file }) => file), redo?.shown]).toEqual(['src/a.js', ['src/b.js'], ['src/a.js', 'src/b.js']]);

    const task = projectTask(redo!, { ...parts, files: parts.workspace, sandboxAvailability: () => scratch.sandbox.availability() });
    const outcomes = await Promise.all([['a'], ['a', 'b']].map(async (names) => {
      const answer = names.map((name) => `\`\`\`js src/${name}.js\nexport const ${name} = () => 2;\n\`\`\`\n`).join('\n');
      const patch = await patchOf(task, answer);
      return (await task.checker.verify({ base: task.base, patch, command: '', sandboxed: true, signal })).outcome;
    }));
    expect(outcomes).toEqual(['failed', 'verified']);
  });
});
