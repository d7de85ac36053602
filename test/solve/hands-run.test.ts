import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../hands/setup.ts';
import type { ScriptedAnswer, ScriptedRequest } from '../support/scripted-server.ts';
import { edit, fence, plan, solve } from './hands-team.ts';

it('a step looks, edits, sees a red test and mends its change; the next ones build on it, and its change is the answer', async () => {
  const { run, server, manager, workspace } = await solve({
    planner: [plan([[0, 'Mend area.', []], [1, 'Review it.', [0]], [2, 'Finish it.', [0, 1]]])],
    'hands-a': [
      `I look first.\n${fence('read src/shapes.js')}`,
      edit('src/shapes.js', '  return width + height;', '  return width - height;'),
      fence('test'),
      edit('src/shapes.js', '  return width - height;', '  return width * height;'),
      fence('test'),
      'The sum was wrong: it is a product now.',
    ],
    reviewer: ['The change is right.'],
    'hands-b': [fence('run', 'cat src/shapes.js && echo "export const c = 3;" > src/c.js'), 'Done.'],
  });
  expect(run.message).toMatch(/passed/);
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  const [mend, review, finish] = run.rounds[0]?.steps ?? [];
  expect(mend?.turns?.map(({ observation }) => observation?.split('\n')[1])).toEqual([
    'src/shapes.js, lines 1 to 3 of 3:', 'Done: src/shapes.js is changed.', expect.stringMatching(/^0 tests passed, 2|^1 test passed, 1 failed/),
    'Done: src/shapes.js is changed.', '2 tests passed, 0 failed.',
  ]);
  expect(mend?.output).toMatch(/^The sum was wrong: it is a product now\.\n\nMy change, as a diff:[\s\S]*\+ {2}return width \* height;/);
  expect(mend?.changes).toEqual([{ path: 'src/shapes.js', line: 2, removed: '  return width + height;\n', inserted: '  return width * height;\n' }]);
  expect(server.of('reviewer')[0]?.text).toContain('+  return width * height;');
  expect(server.of('reviewer')[0]?.text).toContain('NEED:');
  expect(review?.turns).toBeUndefined();
  expect(finish?.begun?.changes).toEqual(mend?.changes);
  expect(server.of('hands-b')[0]?.text).toContain('Your copy begins with changes that were made before: src/shapes.js (step 0).');
  expect(finish?.turns?.[0]?.observation).toContain('return width * height;');
  expect(finish?.changes?.map(({ path: file }) => file)).toEqual(['src/c.js', 'src/shapes.js']);
  expect(server.of('planner')[0]?.text).toContain('Worker 0: [reads, edits and runs the code and its tests before it answers]\nWorker 1\n');
  const { edits } = await manager.questions.edits(run.runId);
  expect(edits.map(({ path: file, after }) => [file, after])).toEqual([
    ['src/c.js', 'export const c = 3;\n'], ['src/shapes.js', PROJECT['src/shapes.js'].replace('+', '*')],
  ]);
  expect(await readFile(path.join(workspace, 'src/shapes.js'), 'utf8')).toBe(PROJECT['src/shapes.js']);
});

it('a step that reads attempts, with hands and without, is told what the real tests say of each', async () => {
  const { run, server } = await solve({
    planner: [plan([[0, 'Mend area.', []], [1, 'Mend area by another way.', []], [2, 'Take the better attempt and finish it.', [0, 1]]])],
    'hands-a': [edit('src/shapes.js', '  return width + height;', '  return width - height;'), 'Mended.'],
    plain: [`Here:\n${edit('src/shapes.js', '  return width + height;', '  return height * width;').replace('edit ', 'js ')}`],
    'hands-b': [edit('src/shapes.js', '  return width - height;', '  return width * height;'), 'Done.'],
  });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  const asked = server.of('hands-b')[0]?.text ?? '';
  expect(asked).toMatch(/<step number="0"[\s\S]*<tests_with_this_change>\n1 test passed, 1 failed\. The command ended with exit code 1\.\nFAILED test\/shapes\.test\.js > area\n[\s\S]*<step number="1"/);
  expect(asked).toMatch(/<step number="1"[\s\S]*<tests_with_this_change>\n2 tests passed, 0 failed\.\npassed /);
  expect(run.rounds[0]?.steps.map(({ trial }) => trial?.result && [trial.result.passed, trial.result.failed])).toEqual([[1, 1], [2, 0], undefined]);
});

it('two changes of one file in different places are both in the copy of their reader, and one of the same lines is told and shown', async () => {
  const files = { ...PROJECT, 'src/shapes.js': `${PROJECT['src/shapes.js']}\n\n\n\n\n\nexport const tail = 1;\n` };
  const { run, server } = await solve({
    planner: [plan([[0, 'Mend area.', []], [1, 'Mend tail.', []], [2, 'Mend area, too.', []], [3, 'Finish.', [0, 1, 2]]])],
    'hands-a': [edit('src/shapes.js', '  return width + height;', '  return width * height;'), 'Mended.'],
    'hands-b': [edit('src/shapes.js', 'export const tail = 1;', 'export const tail = 2;'), 'Mended.'],
    plain: [`Here:\n${edit('src/shapes.js', '  return width + height;', '  return height * width;').replace('edit ', 'js ')}`],
    'hands-c': ['All is well.'],
  }, { files });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  const asked = server.of('hands-c')[0]?.text ?? '';
  expect(asked).toContain('src/shapes.js (step 0), src/shapes.js (step 1)');
  expect(asked).toMatch(/could not be applied[\s\S]*src\/shapes\.js of step 2: Another step changed the same lines\.[\s\S]*\+ {2}return height \* width;/);
  expect(run.rounds[0]?.steps[3]).toMatchObject({ changes: [{ removed: expect.stringContaining('tail = 1'), inserted: expect.stringContaining('tail = 2') }] });
});

it('a worker with hands that writes files into its last message instead has still answered', async () => {
  const { run } = await solve({
    planner: [plan([[0, 'Mend area.', []]])],
    'hands-a': [fence('read src/shapes.js'), `Here:\n${fence('js src/shapes.js', PROJECT['src/shapes.js'].replace('+', '*').trimEnd())}`],
  });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  expect(run.rounds[0]?.steps[0]?.changes).toBeUndefined();
});

it('at a limit a worker is asked once for what it has', async () => {
  const { run, server } = await solve({
    planner: [plan([[0, 'Mend area.', []]])],
    'hands-a': [edit('src/shapes.js', 'width + height', 'width * height'), fence('read src/shapes.js'), fence('read src/circle.js'), fence('test'), fence('test')],
  }, { limits: { turns: 4 } });
  expect(server.of('hands-a')).toHaveLength(4);
  expect(server.of('hands-a')[3]?.text).toContain('You have used 3 of your 4 messages. No more commands are done.');
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  expect(run.rounds[0]?.steps[0]?.output).toContain('```test');
});

it('uses tool calls where the server has them: several in one turn, their results one by one, and what is malformed is told back', async () => {
  const { run, server } = await solve({
    planner: [plan([[0, 'Mend area.', []]])],
    tools: [
      { text: 'I look.', calls: [{ name: 'read', arguments: { path: 'src/shapes.js' } }, { name: 'search', arguments: { pattern: 'area' } }] },
      { calls: [{ name: 'browse', arguments: {} }, { name: 'run', arguments: '{"command": "ls' }, { name: 'edit', arguments: { path: 'src/shapes.js', search: 'width + height', replace: 'width * height' } }] },
      { calls: Array.from({ length: 200 }, (_, index) => ({ name: 'read', arguments: { path: `src/${index}.js` } })) },
      { calls: [{ name: 'test', arguments: {} }] },
      'It is a product now.',
    ],
  });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  const turns = run.rounds[0]?.steps[0]?.turns ?? [];
  expect(turns.map(({ calls = [] }) => calls.length)).toEqual([2, 3, 200, 1]);
  expect(turns[0]?.results?.map(({ text }) => text.split('\n')[0])).toEqual(['Result of read src/shapes.js:', 'Result of search area:']);
  expect(turns[1]?.results?.map(({ text }) => text.split('\n')[1])).toEqual([
    'Not done: There is no tool "browse". The tools are read, search, edit, create, delete, run, test.',
    'Not done: The arguments are not valid JSON. They may have been cut off: write less at once.', 'Done: src/shapes.js is changed.',
  ]);
  expect(turns[2]?.results?.filter(({ text }) => text.includes('at most 16 calls'))).toHaveLength(184);
  expect(turns[3]?.observation).toContain('2 tests passed, 0 failed.');
  const last = server.of('tools')[4];
  expect(last?.tools).toEqual(['read', 'search', 'edit', 'create', 'delete', 'run', 'test']);
  expect(last?.messages.filter(({ role }) => role === 'tool')).toHaveLength(206);
});

it('a conversation that its model cannot hold is made shorter, and the step goes on', async () => {
  const long = `${'// a line of this file\n'.repeat(400)}`;
  const tooLong = (request: ScriptedRequest): ScriptedAnswer => (request.text.length > 30_000 ? { status: 413 } : fence('read src/long.js'));
  const { run } = await solve({
    planner: [plan([[0, 'Mend area.', []]])],
    'hands-a': [
      edit('src/shapes.js', 'width + height', 'width * height'), ...Array.from({ length: 8 }, () => tooLong), 'Done.',
    ],
  }, { files: { ...PROJECT, 'src/long.js': long }, limits: { turns: 12 } });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  expect(run.rounds[0]?.steps[0]?.turns?.length).toBeGreaterThan(2);
});

it('a command that was cut off is told back once, and not half done', async () => {
  const half = '```edit src/shapes.js\n<<<<<<< SEARCH\n  return width + height;\n=======\n  return';
  const { run } = await solve({
    planner: [plan([[0, 'Mend area.', []], [1, 'Mend it, too.', [0]]])],
    'hands-a': [{ cutOff: half }, 'I could not.'],
    tools: [
      { calls: [{ name: 'edit', arguments: '{"path": "src/shapes.js", "search": "width + height", "repl' }], isCutOff: true },
      { calls: [{ name: 'edit', arguments: { path: 'src/shapes.js', search: 'width + height', replace: 'width * height' } }] },
      'Mended.',
    ],
  });
  const [first, second] = run.rounds[0]?.steps ?? [];
  expect(first?.turns?.map(({ observation }) => observation)).toEqual([expect.stringContaining('Not done: The block is not closed')]);
  expect(second?.turns?.map(({ observation }) => observation)).toEqual([expect.stringContaining('not valid JSON'), expect.stringContaining('Done')]);
  expect(run).toMatchObject({ outcome: 'verified' });
});

it('a step whose worker fails in the middle is done by another one, on a copy without the first one\'s changes and with its own hands', async () => {
  const { run, server } = await solve({
    planner: [plan([[0, 'Mend area.', []]])],
    'hands-a': [edit('src/shapes.js', '  return width + height;', '  return width - height;'), { status: 403 }],
    'tools-b': [
      { calls: [{ name: 'read', arguments: { path: 'src/shapes.js' } }] },
      { calls: [{ name: 'edit', arguments: { path: 'src/shapes.js', search: '  return width + height;', replace: '  return width * height;' } }] },
      'The sum was wrong: it is a product now.',
    ],
  });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified', rounds: [{ steps: [{ worker: 1, handedOn: [{ worker: 0, failure: { kind: 'permission' } }] }] }] });
  expect(run.rounds[0]?.steps[0]?.turns?.[0]?.observation).toContain('return width + height;');
  expect(server.of('hands-a')).toHaveLength(2);
  expect(server.of('tools-b')[0]?.text).not.toContain('width - height');
  expect(server.of('tools-b')[0]?.tools).toContain('edit');
});
