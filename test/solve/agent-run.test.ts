import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PROJECT } from '../hands/setup.ts';
import { askTeam, edit, handsTeam, plan, solve } from './hands-team.ts';

/* Runs in which a simulated agent does a step: a real process, in real copies and the real sandbox, with a real journal and real verdicts. */

it('an agent does a step in a private copy: its change, its acts and its cost are those of the step, and the next worker builds on it', async () => {
  const { run, server, workspace } = await solve({
    planner: [plan([[1, 'Mend area.', []], [0, 'Finish it.', [0]]])],
    'hands-a': [edit('src/circle.js', 'r * 2', 'r * 3'), 'Finished.'],
  }, { agents: { agent: { mode: 'edit', settings: { stepUsd: 0.5 } } } });
  expect(run.message).toMatch(/passed/);
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  const [mend, finish] = run.rounds[0]?.steps ?? [];
  expect(mend?.output).toMatch(/^Simulated: done\. Permissions: once, no, no, once, no\. Asked: a subtask\.\n\nMy change, as a diff:[\s\S]*\+ {2}return width \* height;/);
  expect(mend?.changes).toEqual([{ path: 'src/shapes.js', line: 2, removed: '  return width + height;\n', inserted: '  return width * height;\n' }]);
  expect(mend?.turns?.map(({ reply, calls, observation }) => [reply, calls?.map((call) => `${call.name} ${call.arguments}`), observation])).toEqual([
    ['I look first.', ['read Read src/shapes.js'], 'Result of read Read src/shapes.js:\nsome text'],
    ['', ['edit Edit src/shapes.js'], 'Result of edit Edit src/shapes.js:\nsrc/shapes.js\n-  return width + height;\n+  return width * height;'],
  ]);
  expect(mend?.spent).toMatchObject({ usd: 0.25, unpricedTokens: 0, usage: { uncachedInput: 1_000, output: 50 } });
  expect(finish?.begun?.changes).toEqual(mend?.changes);
  expect(server.of('hands-a')[0]?.text).toContain('Your copy begins with changes that were made before: src/shapes.js (step 0).');
  expect(server.of('planner')[0]?.text).toContain('Worker 0: [reads, edits and runs the code and its tests before it answers]\nWorker 1: [reads, edits');
  expect(await readFile(path.join(workspace, 'src/shapes.js'), 'utf8')).toBe(PROJECT['src/shapes.js']);
}, 180_000);

it('what an answer may not change is put back, and told; a cost that is not known counts with what was set aside', async () => {
  const { run } = await solve({ planner: [plan([[0, 'Mend area.', []]])] }, { agents: { agent: { mode: 'forbidden', settings: { stepUsd: 0.4 } } } });
  const [step] = run.rounds[0]?.steps ?? [];
  expect(step?.changes?.map((change) => change.path)).toEqual(['src/new.js']);
  expect(step?.output).toMatch(/^Simulated: the tests are gone\.\n\nNo part of my change:\n- test\/shapes\.test\.js: /);
  expect(step?.spent).toMatchObject({ usd: 0, unpricedTokens: 5_000, estimated: true });
}, 180_000);

it('the step of an agent that fails is given to another worker, and a limit that does not hold what is set aside stops the run before it begins', async () => {
  const { run } = await solve({
    planner: [plan([[1, 'Mend area.', []]])],
    'hands-a': [edit('src/shapes.js', 'width + height', 'width * height'), 'Mended.'],
  }, { agents: { agent: { mode: 'dies' } } });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  expect(run.rounds[0]?.steps[0]?.handedOn).toMatchObject([{ failure: { kind: 'agent-failed', message: expect.stringContaining('The simulated agent dies now.') } }]);
  const dear = await solve({ planner: [plan([[0, 'Mend area.', []]])] }, { agents: { agent: { mode: 'edit', settings: { stepUsd: 5 } } } });
  expect(dear.run).toMatchObject({ state: 'stopped', stoppedBy: 'runUsd' });
  expect(dear.run.rounds[0]?.steps[0]?.turns).toBeUndefined();
}, 180_000);

it('a step of an agent that was broken off begins anew, and one that a person stops hands on what it has changed', async () => {
  const seen: string[] = [];
  const team = await handsTeam({ planner: [plan([[0, 'Mend area.', []]])] }, {
    agents: { agent: { mode: 'begins' } },
    onEvent: ({ event, runId }, manager) => {
      seen.push(event.type);
      if (event.type !== 'step.acted') return;
      // The first time the process ends, the second time a person stops the step.
      if (seen.filter((type) => type === 'step.acted').length === 1) void manager.close();
      else manager.stopStep(runId, { round: 0, step: 0 });
    },
  });
  const first = team.open();
  const runId = await askTeam(first, team.workspace);
  while (!seen.includes('step.acted')) await new Promise((resolve) => setTimeout(resolve, 50));
  await first.close();
  const second = team.open();
  second.resumeUnfinished();
  await team.ended(runId);
  const run = second.snapshot(runId);
  await second.close();
  const [step] = run.rounds[0]?.steps ?? [];
  expect(step?.turns).toHaveLength(1);
  expect(step?.changes?.map((change) => change.path)).toEqual(['src/shapes.js']);
  expect(step?.output).toMatch(/^A person stopped this step before it was done/);
}, 180_000);
