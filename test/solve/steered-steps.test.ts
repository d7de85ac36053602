import { setTimeout as pause } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { PROJECT } from '../hands/setup.ts';
import type { StoredEvent } from '../../backend/protocol/run-events.ts';
import type { RunManager } from '../../backend/solve/run-manager.ts';
import type { ScriptedAnswer, ScriptedRequest } from '../support/scripted-server.ts';
import { askTeam, edit, fence, handsTeam, plan, solve } from './hands-team.ts';

/* What a person does with a step while it works. */

const FIRST = { round: 0, step: 0 };
const GOOD = edit('src/shapes.js', '  return width + height;', '  return width * height;');

/** A reply that begins and never ends. */
const hanging = (begin: string): ScriptedAnswer => ({ begin, rest: new Promise(() => {}) });

/** Does something once some text of a step has come; text that streams makes no event. */
const whenSaid = (text: string, then: (manager: RunManager, runId: string) => void) => {
  let done = false;
  return ({ runId, event }: StoredEvent, manager: RunManager): void => {
    if (done || event.type !== 'attempt.started' || event.purpose.kind !== 'step') return;
    const look = async (): Promise<void> => {
      for (let tries = 0; tries < 500 && !done; tries += 1) {
        if (manager.snapshot(runId).rounds[0]?.steps.some(({ attempt }) => attempt?.text.includes(text))) {
          done = true;
          then(manager, runId);
        }
        await pause(10);
      }
    };
    look().catch((error: unknown) => console.error(error));
  };
};

it('a step that is stopped in the middle of a reply hands on its last words and its change, and its reader goes on with them', async () => {
  let broken: Promise<void> | undefined;
  const { run, server, manager } = await solve({
    planner: [plan([[0, 'Mend area.', []], [1, 'Finish it.', [0]]])],
    'hands-a': [GOOD, (request: ScriptedRequest) => {
      broken = request.abandoned;
      return hanging('It is a product now, and I could also');
    }],
    'hands-b': ['The change is right.'],
  }, { onEvent: whenSaid('I could also', (at, runId) => at.stopStep(runId, FIRST)) });
  await broken;
  const [first, second] = run.rounds[0]?.steps ?? [];
  expect(first).toMatchObject({
    state: 'completed', stopped: true, finishReason: 'stopped',
    changes: [{ path: 'src/shapes.js', line: 2, removed: '  return width + height;\n', inserted: '  return width * height;\n' }],
  });
  expect(first?.output).toMatch(/^A person stopped this step before it was done\. What it had by then:\n\nIt is a product now, and I could also\n\nMy change, as a diff:[\s\S]*\+ {2}return width \* height;/);
  expect(server.of('hands-a')).toHaveLength(2);
  expect(server.of('hands-b')[0]?.text).toContain('A person stopped this step before it was done.');
  expect(second?.begun?.changes).toEqual(first?.changes);
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  // What was broken off may have been billed; ending the step costs nothing more.
  expect(manager.events(run.runId, 0).filter(({ event }) => event.type === 'attempt.failed')).toHaveLength(1);
  expect(manager.events(run.runId, 0).at(-1)?.event).toMatchObject({ type: 'run.completed' });
});

it('a step that is stopped while a command of it runs ends at once, with what it changed before', async () => {
  const startedAt = performance.now();
  const { run } = await solve({
    planner: [plan([[0, 'Mend area.', []]])],
    'hands-a': [GOOD, fence('run', 'sleep 100')],
  }, {
    onEvent: ({ runId, event }, manager) => {
      if (event.type === 'step.turned' && event.text.includes('sleep')) setTimeout(() => manager.stopStep(runId, FIRST), 300);
    },
  });
  expect(performance.now() - startedAt).toBeLessThan(60_000);
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified', rounds: [{ steps: [{ finishReason: 'stopped', changes: [{ path: 'src/shapes.js' }] }] }] });
});

it('a step that is stopped with nothing says so to its reader; one that was to give the answer ends the run, which can be resumed', async () => {
  const both = await solve({
    planner: [plan([[0, 'Look.', []], [1, 'Mend area.', [0]]])],
    plain: [hanging('')],
    'hands-b': [GOOD, 'Mended.'],
  }, { onEvent: ({ runId, event }, manager) => { if (event.type === 'attempt.started' && event.worker === 'plain') setTimeout(() => manager.stopStep(runId, FIRST), 200); } });
  expect(both.run).toMatchObject({ state: 'completed', outcome: 'verified' });
  expect(both.run.rounds[0]?.steps[0]).toMatchObject({ state: 'completed', output: 'A person stopped this step before it had anything to hand on.', finishReason: 'stopped' });
  expect(both.server.of('hands-b')[0]?.text).toContain('A person stopped this step before it had anything to hand on.');

  let isStopped = false;
  const team = await handsTeam({
    planner: [plan([[0, 'Mend area.', []]])],
    'hands-a': [hanging(''), GOOD, 'Mended.'],
  }, {
    onEvent: ({ runId, event }, manager) => {
      if (isStopped || event.type !== 'attempt.started' || event.worker !== 'hands-a') return;
      isStopped = true;
      setTimeout(() => manager.stopStep(runId, FIRST), 200);
    },
  });
  const manager = team.open();
  const runId = await askTeam(manager, team.workspace);
  await team.ended(runId);
  expect(manager.snapshot(runId)).toMatchObject({
    state: 'failed', failure: { kind: 'step-stopped', message: 'Step 1 was to give the answer and was stopped before it had anything to hand on: resume the run to ask it again.' },
  });
  await manager.resume(runId);
  await team.ended(runId);
  expect(manager.snapshot(runId)).toMatchObject({ state: 'completed', outcome: 'verified' });
  expect(manager.snapshot(runId).rounds[0]?.steps[0]?.stopped).toBeUndefined();
  await manager.close();
});

it('a step that was stopped just before a crash is not asked for another turn: it ends with what is journalled of it', async () => {
  const whenLooking = whenSaid('I look.', (at, stopped) => at.stopStep(stopped, FIRST));
  const team = await handsTeam({
    planner: [plan([[0, 'Mend area.', []], [1, 'Finish it.', [0]]])],
    'hands-a': [GOOD, hanging('I look.')],
    'hands-b': ['All is well.'],
  }, {
    onEvent: (stored, manager) => {
      // In the middle of stopStep: the process ends before the step does.
      if (stored.event.type === 'step.stopped') manager.close().catch((error: unknown) => console.error(error));
      whenLooking(stored, manager);
    },
  });
  const first = team.open();
  const runId = await askTeam(first, team.workspace);
  while (first.activeRuns > 0) await pause(20);
  expect(first.snapshot(runId)).toMatchObject({ state: 'running', rounds: [{ steps: [{ stopped: true, state: 'running' }, {}] }] });
  const second = team.open();
  second.resumeUnfinished();
  await team.ended(runId);
  expect(team.server.of('hands-a')).toHaveLength(2);
  expect(second.snapshot(runId)).toMatchObject({ state: 'completed', outcome: 'verified', rounds: [{ steps: [{ finishReason: 'stopped', changes: [{ path: 'src/shapes.js' }] }, {}] }] });
  await second.close();
});

it('what a person says is read with the next result, and before a step ends; a step of one call is told nothing', async () => {
  const refusals: string[] = [];
  const { run, server, manager } = await solve({
    planner: [plan([[0, 'Mend area.', []], [2, 'Say it.', [0]], [1, 'Mend it, too.', [0, 1]]])],
    'hands-a': [GOOD, 'Mended.', edit('src/shapes.js', 'width * height', 'height * width'), 'Mended as you like it.'],
    'tools-b': [{ text: 'I look.', calls: [{ name: 'read', arguments: { path: 'src/shapes.js' } }] }, 'All is well.'],
    plain: ['It is a product.'],
  }, {
    onEvent: ({ runId, event }, at) => {
      if (event.type === 'step.turned' && event.step === 0 && event.text === GOOD) at.tellStep(runId, FIRST, 'Keep it short.');
      if (event.type === 'attempt.started' && event.worker === 'hands-a' && at.snapshot(runId).rounds[0]?.steps[0]?.turns?.length === 1) at.tellStep(runId, FIRST, 'The height comes first.');
      if (event.type === 'step.turned' && event.step === 2) at.tellStep(runId, { round: 0, step: 2 }, 'Look at the empty case, too.');
      if (event.type === 'attempt.started' && event.worker === 'plain') {
        for (const place of [{ round: 0, step: 1 }, FIRST, { round: 1, step: 0 }]) {
          try {
            at.tellStep(runId, place, 'Hurry.');
          } catch (error) {
            refusals.push((error as Error).message);
          }
        }
      }
    },
  });
  expect(run).toMatchObject({ state: 'completed', outcome: 'verified' });
  const [first, , last] = run.rounds[0]?.steps ?? [];
  expect(first?.turns?.map(({ told }) => told)).toEqual([['Keep it short.'], ['The height comes first.'], undefined]);
  expect(first?.told).toBeUndefined();
  const asked = server.of('hands-a');
  expect(asked[1]?.messages.at(-1)?.content).toMatch(/^Result of edit[\s\S]*\n\nThe person who asked the question says to you now:\n\nKeep it short\.$/);
  expect(asked[2]?.messages.slice(-2).map(({ content }) => content)).toEqual(['Mended.', 'The person who asked the question says to you now:\n\nThe height comes first.']);
  expect(first?.output).toContain('Mended as you like it.');
  expect(server.of('tools-b')[1]?.messages.slice(-2).map(({ role }) => role)).toEqual(['tool', 'user']);
  expect(last?.turns?.[0]?.told).toEqual(['Look at the empty case, too.']);
  expect(manager.questions.prompt(run.runId, 0, 2).at(-1)?.content).toContain('Look at the empty case, too.');
  expect(refusals).toEqual([
    'Step 2 reads nothing while it works: stop it, or wait for its answer.', 'Step 1 of round 1 is not at work.', 'Step 1 of round 2 is not at work.',
  ]);
});

it('the change of a step can be seen while it works and afterwards, against the workspace as it is', async () => {
  const during: Promise<unknown>[] = [];
  const { run, manager } = await solve({
    planner: [plan([[0, 'Mend area.', []], [1, 'Say it.', [0]]])],
    'hands-a': [GOOD, fence('read src/shapes.js'), 'Mended.'],
    plain: [`Here:\n${fence('js src/circle.js', 'export const round = (r) => r * 3;')}`],
  }, {
    onEvent: ({ runId, event }, at) => {
      if (event.type === 'step.turned' && event.text.includes('read')) during.push(at.questions.stepEdits(runId, FIRST));
    },
  });
  const after = PROJECT['src/shapes.js'].replace('+', '*');
  const expected = { edits: [{ path: 'src/shapes.js', kind: 'modify', before: PROJECT['src/shapes.js'], after }], refused: [] };
  expect(await Promise.all(during)).toEqual([expected]);
  expect(await manager.questions.stepEdits(run.runId, FIRST)).toEqual(expected);
  expect((await manager.questions.stepEdits(run.runId, { round: 0, step: 1 })).edits.map(({ path }) => path)).toEqual(['src/circle.js']);
  await expect(manager.questions.stepEdits(run.runId, { round: 0, step: 7 })).rejects.toThrow('no step 8');
});
