import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { RunNotFoundError, RunRefusedError } from '../../../backend/solve/errors.ts';
import { runRequestSchema } from '../../../backend/protocol/run-request.ts';
import type { RunSnapshot } from '../../../backend/protocol/run-snapshot.ts';
import { PROJECT } from '../../hands/setup.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { conversation, type Conversation } from './conversation.ts';

const SHAPES = 'src/shapes.js';
const block = (file: string, search: string, replace: string): string =>
  `Here:\n\n${file}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE`;
const MEND = block(SHAPES, '  return width + height;', '  return width * height;');
/** Fits only a file that has the first change. */
const NAME = block(SHAPES, '  return width * height;', '  const area = width * height;\n  return area;');
const mended = PROJECT[SHAPES].replace('+', '*');
const both = mended.replace('  return width * height;', '  const area = width * height;\n  return area;');

const shapesIn = ({ workspace }: Conversation): Promise<string> => readFile(path.join(workspace, SHAPES), 'utf8');
const writeShapes = ({ workspace }: Conversation, text: string): Promise<void> => writeFile(path.join(workspace, SHAPES), text);
const editsOf = async ({ manager }: Conversation, { runId }: RunSnapshot) =>
  (await manager.questions.edits(runId)).edits.map(({ path: file, before, after }) => [file, before, after]);
const lastPrompt = ({ server }: Conversation, model: string): string => server.of(model).at(-1)?.text ?? '';
const mend = (talk: Conversation): Promise<RunSnapshot> => talk.ask('area() of shapes is wrong, please mend it.', [MEND]);

describe('a question that continues from an answer', { timeout: 180_000 }, () => {
  it('builds on its change where that was not applied: context, tests, answer and verdict; and offers the whole in one step', async () => {
    const talk = await conversation();
    const first = await mend(talk);
    const second = await talk.ask('Now give the product a name.', [NAME], { continues: first.runId });
    expect(second).toMatchObject({
      state: 'completed', outcome: 'verified',
      earlier: { thread: first.runId, exchanges: [{ runId: first.runId, outcome: 'verified', isTold: true }], change: { runId: first.runId, state: 'pending' } },
    });
    // Tests on the code as it is know the change; the verdict is about the whole.
    expect(first.base?.result).toMatchObject({ failed: 1 });
    expect(second.base?.result).toMatchObject({ failed: 0 });
    expect(second.context?.text).toContain('return width * height;');
    expect(second.rounds[0]?.verdict?.tests).toContainEqual(expect.objectContaining({ before: 'failed', after: 'passed' }));
    // What was looked at before it was asked is what was sent.
    const preview = await talk.manager.questions.previewContext({ ...second.request, question: 'Now give the product a name.' }, new AbortController().signal);
    expect(preview).toMatchObject({ text: second.context?.text, earlier: second.earlier });
    for (const model of ['w', 'planner']) {
      const told = lastPrompt(talk, model);
      expect(told).toContain('area() of shapes is wrong, please mend it.');
      expect(told).toContain('The project\'s tests verified the answer.');
      expect(told).toContain(MEND);
      expect(told).toContain('The files that you are shown have the change of the last answer.');
      expect(told.indexOf('mend it.')).toBeLessThan(told.lastIndexOf('Now give the product a name.'));
    }
    expect(await shapesIn(talk)).toBe(PROJECT[SHAPES]);
    expect((await talk.manager.questions.stepEdits(second.runId, { round: 0, step: 0 })).edits).toMatchObject([{ path: SHAPES, before: PROJECT[SHAPES], after: both }]);
    expect(await editsOf(talk, second)).toEqual([[SHAPES, PROJECT[SHAPES], both]]);
    // Whoever applies the first answer and then the second one gets the rest.
    await writeShapes(talk, mended);
    expect(await editsOf(talk, second)).toEqual([[SHAPES, mended, both]]);
    await writeShapes(talk, both);
    expect(await editsOf(talk, second)).toEqual([]);
    await writeShapes(talk, 'export const other = 1;\n');
    expect((await talk.manager.questions.edits(second.runId)).refused).toEqual([{ path: SHAPES, reason: 'The file was changed since.' }]);
    expect(talk.manager.list({ limit: 5 }).map(({ runId, thread }) => [runId, thread])).toEqual([[second.runId, first.runId], [first.runId, undefined]]);
  });

  it('finds the change in the project where it was applied, though lines have moved', async () => {
    const talk = await conversation();
    const first = await mend(talk);
    await writeShapes(talk, `// A new line.\n${mended}`);
    const second = await talk.ask('Now give the product a name.', [NAME], { continues: first.runId });
    expect(second.earlier?.change?.state).toBe('there');
    expect(lastPrompt(talk, 'w')).toContain('The project has the change of the last answer.');
    expect(await editsOf(talk, second)).toEqual([[SHAPES, `// A new line.\n${mended}`, `// A new line.\n${both}`]]);
  });

  it('shows a change that does not fit any more as text, and says so', async () => {
    const talk = await conversation();
    const first = await mend(talk);
    await writeShapes(talk, PROJECT[SHAPES].replace('width + height', 'height + width'));
    const second = await talk.ask('Mend it again.', [block(SHAPES, '  return height + width;', '  return height * width;')], { continues: first.runId });
    expect(second).toMatchObject({
      outcome: 'verified',
      earlier: { change: { state: 'lost', reason: 'The change of the earlier answer does not fit the project any more: src/shapes.js: The file was changed since.' } },
    });
    expect(lastPrompt(talk, 'w')).toMatch(/it does not fit any more[\s\S]*<earlier_change>[\s\S]*\+ {2}return width \* height;/);
    expect(await editsOf(talk, second)).toEqual([[SHAPES, expect.stringContaining('height + width'), expect.stringContaining('height * width')]]);
  });

  it('may be answered in words, offers nothing then, and the next one still builds on the change', async () => {
    const talk = await conversation();
    const first = await mend(talk);
    const why = await talk.ask('Why a product?', ['An area is a product.'], { continues: first.runId });
    expect(why).toMatchObject({ outcome: 'answered', rounds: [{ answer: { edits: [] } }] });
    expect(await editsOf(talk, why)).toEqual([]);
    const third = await talk.ask('Now give the product a name.', [NAME], { continues: why.runId });
    expect(third).toMatchObject({
      outcome: 'verified', earlier: { thread: first.runId, exchanges: [{ runId: first.runId }, { runId: why.runId }], change: { runId: first.runId, state: 'pending' } },
    });
    expect(await editsOf(talk, third)).toEqual([[SHAPES, PROJECT[SHAPES], both]]);
    expect(lastPrompt(talk, 'w')).toContain('An area is a product.');
  });

  it('gives a worker with hands a copy that begins with the change, and its change is the whole', async () => {
    const talk = await conversation({ hands: 'fenced' });
    const edit = (search: string, replace: string): string => `\`\`\`edit ${SHAPES}\n<<<<<<< SEARCH\n${search}\n=======\n${replace}\n>>>>>>> REPLACE\n\`\`\``;
    const first = await talk.ask('area() of shapes is wrong, please mend it.', [edit('width + height', 'width * height'), 'Mended.']);
    const second = await talk.ask('Now give the product a name.', [
      `\`\`\`read ${SHAPES}\n\`\`\``, edit('  return width * height;', '  const area = width * height;\n  return area;'), '```test\n```', 'It has a name.',
    ], { continues: first.runId });
    const [step] = second.rounds[0]?.steps ?? [];
    expect(step?.begun?.text).toBe('Your copy begins with changes that were made before: src/shapes.js (the earlier answer).');
    expect(step?.turns?.map(({ observation }) => observation)).toEqual([
      expect.stringContaining('return width * height;'), expect.stringContaining('Done'), expect.stringContaining('2 tests passed, 0 failed.'),
    ]);
    expect(second).toMatchObject({ outcome: 'verified' });
    expect(await editsOf(talk, second)).toEqual([[SHAPES, PROJECT[SHAPES], both]]);
    const words = await talk.ask('Why a product?', ['An area is a product.'], { continues: second.runId });
    expect(words).toMatchObject({ outcome: 'answered', earlier: { change: { runId: second.runId, state: 'pending' } } });
    expect(words.rounds[0]?.steps[0]).toMatchObject({ output: 'An area is a product.' });
  });

  it('revises its own answer in a second round, on the same beginning', async () => {
    const talk = await conversation({ hands: 'fenced' });
    const first = await mend(talk);
    const broken = `\`\`\`edit ${SHAPES}\n<<<<<<< SEARCH\nwidth * height\n=======\nwidth * width\n>>>>>>> REPLACE\n\`\`\``;
    const right = `\`\`\`edit ${SHAPES}\n<<<<<<< SEARCH\n  return width * width;\n=======\n  const area = width * height;\n  return area;\n>>>>>>> REPLACE\n\`\`\``;
    const second = await talk.ask('Give the product a name.', [broken, 'Named.', 'No change.', right, 'Now it has one.'], { continues: first.runId, rounds: 2 });
    expect(second.rounds[0]?.verdict?.outcome).toBe('failed');
    expect(second.state).toBe('completed');
    expect(second.rounds[1]?.steps[0]?.begun?.text).toContain('the earlier answer');
  });

  it('carries tests that an earlier answer added, which no other answer may add', async () => {
    const talk = await conversation({ files: { ...PROJECT, [SHAPES]: mended } });
    const test = "import assert from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { area } from '../src/shapes.js';\ntest('one', () => assert.equal(area(1, 1), 1));";
    const first = await talk.ask('Write tests for area().', [`Here:\n\`\`\`js test/one.test.js\n${test}\n\`\`\``]);
    expect(first.rounds[0]?.answer?.edits).toMatchObject([{ path: 'test/one.test.js', kind: 'create' }]);
    const second = await talk.ask('Now give the product in area() a name.', [NAME], { continues: first.runId });
    expect(second).toMatchObject({ state: 'completed', outcome: 'passes' });
    expect((await editsOf(talk, second)).map(([file]) => file)).toEqual(['test/one.test.js', SHAPES]);
  });

  it('goes on after a kill with the same conversation and change, though the earlier run is removed and the change applied', async () => {
    const talk = await conversation();
    const first = await mend(talk);
    const arrived = Promise.withResolvers<void>();
    talk.script([() => { arrived.resolve(); return { begin: 'I look', rest: new Promise(() => {}) }; }]);
    const runId = await talk.manager.start(runRequestSchema.parse({ question: 'Now give the product a name.', workspace: talk.workspace, rounds: 1, continues: first.runId }));
    await arrived.promise;
    const asked = lastPrompt(talk, 'w');
    await talk.reopen();
    await talk.manager.remove(first.runId);
    await writeShapes(talk, mended);
    talk.script([NAME]);
    talk.manager.resumeUnfinished();
    const second = await talk.ended(runId);
    expect(second).toMatchObject({ state: 'completed', earlier: { exchanges: [{ runId: first.runId }], change: { state: 'pending' } } });
    expect(lastPrompt(talk, 'w')).toBe(asked);
    expect(await editsOf(talk, second)).toEqual([[SHAPES, mended, both]]);
  });

  it('is asked again, and a step of it, with the same conversation', async () => {
    const talk = await conversation();
    const first = await mend(talk);
    const second = await talk.ask('Now give the product a name.', [NAME], { continues: first.runId });
    talk.script([NAME, NAME]);
    for (const runId of [await talk.manager.again(second.runId, { trusted: true }), await talk.manager.retry(second.runId, { round: 0, step: 0 })]) {
      const run = await talk.ended(runId);
      expect(run).toMatchObject({ outcome: 'verified', earlier: second.earlier });
      expect(await editsOf(talk, run)).toEqual([[SHAPES, PROJECT[SHAPES], both]]);
    }
  });

  it('may continue from a run without an answer', async () => {
    const talk = await conversation();
    const failed = await talk.ask('area() of shapes is wrong, please mend it.', [{ status: 403 }]);
    expect(failed.state).toBe('failed');
    const second = await talk.ask('Try once more.', [MEND], { continues: failed.runId });
    expect(second).toMatchObject({ earlier: { exchanges: [{ state: 'failed', answer: '' }] } });
    expect(second.earlier?.change).toBeUndefined();
    expect(lastPrompt(talk, 'w')).toMatch(/<result>\nThe run failed\. /);
  });

  it('is refused where there is nothing to continue from', async () => {
    const talk = await conversation();
    const first = await mend(talk);
    const start = (continues: string, workspace = talk.workspace) => talk.manager.start(runRequestSchema.parse({ question: 'And now?', workspace, continues }));
    await expect(start('nobody')).rejects.toThrow(RunNotFoundError);
    await expect(start(first.runId, await temporaryFolder())).rejects.toThrow(/is about another project/);
    const arrived = Promise.withResolvers<void>();
    talk.script([() => { arrived.resolve(); return { begin: 'I look', rest: new Promise(() => {}) }; }]);
    const going = await start(first.runId);
    await arrived.promise;
    await expect(start(going)).rejects.toThrow(RunRefusedError);
    await expect(start(going)).rejects.toThrow(/is under way/);
    talk.manager.cancel(going);
    await talk.ended(going);
    // Only a damaged journal has such a run.
    const accepted = talk.journal.read(going)[0]?.event;
    if (accepted?.type !== 'run.accepted' || !accepted.earlier) throw new Error('The run did not begin.');
    const [exchange] = accepted.earlier.exchanges;
    talk.journal.accept('ring', { ...accepted, earlier: { ...accepted.earlier, exchanges: [{ ...(exchange as NonNullable<typeof exchange>), runId: 'ring' }] } });
    talk.journal.append('ring', [{ type: 'run.cancelled' }]);
    await expect(start('ring')).rejects.toThrow(/continues from itself/);
    const untrusted = await talk.manager.start(runRequestSchema.parse({ question: 'And now?', workspace: talk.workspace, continues: first.runId, trusted: false }));
    expect(talk.manager.snapshot(untrusted)).toMatchObject({ state: 'failed', failure: { kind: 'untrusted-workspace' } });
    expect(talk.manager.snapshot(untrusted).earlier?.change).toBeUndefined();
  });
});
