import { describe, expect, it } from 'vitest';
import { pageMessageSchema, type PageCommand, type QuestionDraft } from '../../backend/protocol/panel-messages.ts';
import type { RunSnapshot } from '../../backend/protocol/run-snapshot.ts';
import { actOn, type PageMessageOptions } from '../../extension/panel/page-messages.ts';

const RUN = { runId: 'r1' } as RunSnapshot;

/** Parts that write down what is asked of them. */
function recorded({ draft, offline = false }: { draft?: QuestionDraft; offline?: boolean } = {}) {
  const asked: unknown[][] = [];
  const record = (name: string) => async (...values: unknown[]): Promise<void> => void asked.push([name, ...values]);
  const options: PageMessageOptions = {
    connection: {
      client: async () => {
        asked.push(['connect']);
        if (offline) throw new Error('Node is too old.');
        return undefined as never;
      },
      request: async (...values) => {
        asked.push(['request', ...values]);
        return {} as never;
      },
    },
    panel: { draft, ask: (question) => void asked.push(['ask', question]), forgetProblem: () => undefined },
    solve: {
      solve: async (...values) => {
        asked.push(['solve', ...values]);
        return 'r1';
      },
      preview: record('preview'),
    },
    setLocalFirst: record('setLocalFirst'),
    learning: { decline: () => void asked.push(['declineLearning']) },
    trainingDetails: { showTasks: record('showTasks'), showRollout: record('showRollout') },
    runCommands: {
      cancel: record('cancel'),
      resume: record('resume'),
      retryStep: record('retryStep'),
      again: record('again'),
      exportRun: record('exportRun'),
      openFolder: record('openFolder'),
      open: async (runId) => {
        asked.push(['open', runId]);
        return RUN;
      },
      runOf: async (runId) => ({ ...RUN, runId: runId ?? 'open' }),
      copyAnswer: record('copy'),
      insertAnswer: record('insert'),
    },
    stepCommands: { stop: record('stopStep'), tell: record('tellStep'), showChange: record('showStepChange') },
    trainingCommands: { act: record('training') },
    review: { show: async ({ runId }) => void asked.push(['review', runId]), undo: record('undo') },
    openFile: record('openFile'),
    runCommand: record('command'),
  };
  return { asked, act: (message: PageCommand) => actOn(message, options) };
}

const preview = { pieces: [], leftOut: [], tokens: 0, text: '', testCommand: null };

describe('a message of the page', () => {
  it.each<[PageCommand, unknown[]]>([
    [{ type: 'previewContext', question: 'Why?' }, ['preview', 'Why?']],
    [{ type: 'newQuestion', question: 'Why?' }, ['ask', 'Why?']],
    [{ type: 'newQuestion' }, ['ask', undefined]],
    [{ type: 'cancel', runId: 'r1' }, ['cancel', 'r1']],
    [{ type: 'resume', runId: 'r1' }, ['resume', 'r1']],
    [{ type: 'retryStep', runId: 'r1', round: 1, step: 2 }, ['retryStep', { type: 'retryStep', runId: 'r1', round: 1, step: 2 }]],
    [{ type: 'stopStep', runId: 'r1', round: 0, step: 1 }, ['stopStep', { type: 'stopStep', runId: 'r1', round: 0, step: 1 }]],
    [{ type: 'tellStep', runId: 'r1', round: 0, step: 1, text: 'Hurry.' }, ['tellStep', { type: 'tellStep', runId: 'r1', round: 0, step: 1, text: 'Hurry.' }, 'Hurry.']],
    [{ type: 'showStepChange', runId: 'r1', round: 0, step: 1 }, ['showStepChange', { type: 'showStepChange', runId: 'r1', round: 0, step: 1 }]],
    [{ type: 'again', runId: 'r1' }, ['again', 'r1']],
    [{ type: 'exportRun', runId: 'r1' }, ['exportRun', 'r1']],
    [{ type: 'open', runId: 'r1' }, ['open', 'r1']],
    [{ type: 'apply', runId: 'r2' }, ['review', 'r2']],
    [{ type: 'undo', runId: 'r2' }, ['undo', 'r2']],
    [{ type: 'openFolder', runId: 'r2' }, ['openFolder', 'r2']],
    [{ type: 'copy', text: 'answer' }, ['copy', 'answer']],
    [{ type: 'insert', text: 'code' }, ['insert', 'code']],
    [{ type: 'openFile', path: 'src/a.ts', line: 3 }, ['openFile', 'src/a.ts', 3]],
    [{ type: 'fineTune' }, ['command', 'conductor.fineTune']],
    [{ type: 'trainingTasks', trainingId: 't1', count: 100 }, ['showTasks', 't1', 100]],
    [{ type: 'rollout', trainingId: 't1', runId: 't1.0.0.0' }, ['showRollout', 't1', 't1.0.0.0']],
    [{ type: 'training', action: 'raiseBudget', trainingId: 't1' }, ['training', 'raiseBudget', 't1']],
    [{ type: 'training', action: 'goBack', trainingId: 't1' }, ['training', 'goBack', 't1']],
    [{ type: 'openInEditor' }, ['command', 'conductor.openPanelInEditor']],
    [{ type: 'addWorker' }, ['command', 'conductor.addWorker']],
    [{ type: 'demonstrate' }, ['command', 'conductor.showDemonstration']],
    [{ type: 'chooseModel' }, ['command', 'conductor.chooseConductorModel']],
    [{ type: 'unloadModel', model: 'Qwen/Qwen3-0.6B' }, ['request', 'model/unload', { model: 'Qwen/Qwen3-0.6B' }]],
    [{ type: 'chooseTests' }, ['command', 'conductor.chooseTestCommand']],
    [{ type: 'verifyChanges' }, ['command', 'conductor.verifyChanges']],
    [{ type: 'openTestSettings' }, ['command', 'workbench.action.openSettings', 'conductor.test']],
    [{ type: 'showHealth' }, ['command', 'conductor.showHealth']],
    [{ type: 'manageTrust' }, ['command', 'workbench.trust.manage']],
    [{ type: 'showLogs' }, ['command', 'conductor.showLogs']],
    [{ type: 'retryBackend' }, ['connect']],
  ])('%j does one thing', async (message, expected) => {
    const { asked, act } = recorded();
    expect(pageMessageSchema.parse(message)).toEqual(message);
    await act(message);
    expect(asked).toEqual([expected]);
  });

  it('solves as the setting says when the page has not shown the context', async () => {
    const { asked, act } = recorded({ draft: { question: 'Another?', preview } });
    await act({ type: 'solve', question: 'Why?' });
    await act({ type: 'solve', question: 'Why?', attempts: 3, atOnce: true });
    expect(asked).toEqual([['solve', 'Why?', undefined, {}], ['solve', 'Why?', undefined, { attempts: 3, atOnce: true }]]);
  });

  it('does not show the context again when the page just has', async () => {
    const { asked, act } = recorded({ draft: { question: 'Why?', preview } });
    await act({ type: 'solve', question: 'Why?' });
    expect(asked).toEqual([['solve', 'Why?', false, {}]]);
  });

  it('shows the context again once the test command was chosen, where it is on show', async () => {
    const { asked, act } = recorded({ draft: { question: 'Why?', preview } });
    await act({ type: 'chooseTests' });
    expect(asked).toEqual([['command', 'conductor.chooseTestCommand'], ['preview', 'Why?']]);
  });

  it('leaves it to the state to say that there is no backend', async () => {
    const { act } = recorded({ offline: true });
    await expect(act({ type: 'ready' })).resolves.toBeUndefined();
  });
});
