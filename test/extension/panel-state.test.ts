import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../backend/protocol/methods.ts';
import type { AppliedAnswer } from '../../backend/protocol/panel-messages.ts';
import { trainingSummaryOf } from '../../backend/protocol/training.ts';
import { workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { BackendConnection } from '../../extension/common/backend-connection.ts';
import { ModelStates } from '../../extension/workers/model-states.ts';
import { PoolStore } from '../../extension/workers/pool-store.ts';
import { PanelStateSource } from '../../extension/panel/panel-state.ts';
import { Signal } from '../../extension/common/signal.ts';
import { RunList } from '../../extension/runs/run-list.ts';
import { RunStore } from '../../extension/runs/run-store.ts';
import { TrainingDetails } from '../../extension/training/training-details.ts';
import { Trainings } from '../../extension/training/trainings.ts';
import { FakeBackend } from './fake-backend.ts';
import { training } from './training-fixture.ts';

const RUN = { runId: 'r1', seq: 1, state: 'running', request: { workspace: '/app' }, pool: [], policy: { kind: 'endpoint', model: 'm', promptVersion: 'p' } };
const WORKER = workerConfigSchema.parse({ id: 'w', provider: 'openai', model: 'gpt-5', key: 'OPENAI_API_KEY' });
const summary = (runId: string, acceptedAt: number, workspace = '/app'): RunSummary => ({
  runId, kind: 'solve', question: 'Why?', workspace, state: 'running', acceptedAt, updatedAt: acceptedAt,
  usd: 0, unpricedTokens: 0, simulated: false,
});

function panelOn(backend: FakeBackend, { folders = ['/app'], failure, undoable, offered }: { folders?: string[]; failure?: Error; undoable?: AppliedAnswer; offered?: { verified: number; other: number } } = {}) {
  backend
    .answer('pool/get', () => ({
      file: 'workers.json', conductor: 'w', planner: { worker: WORKER, choice: { why: 'chosen', estimate: { plans: 0 } } }, workers: [{ worker: WORKER, ready: false, reason: 'No key.', priced: true }],
    }))
    .answer('model/status', () => ({ models: [] }))
    .answer('run/list', (params) => ({ runs: 'workspace' in (params as object) ? [summary('old', 1)] : [] }))
    .answer('training/list', () => ({ trainings: [trainingSummaryOf(training('t1'))] }))
    .answer('training/subscribe', () => training('t1'))
    .answer('training/unsubscribe', () => ({}))
    .answer('run/subscribe', () => ({ run: RUN }));
  const connection = new BackendConnection({
    connect: async () => {
      if (failure) throw failure;
      return backend.client;
    },
    stop: async () => backend.lose('stopped'),
    wait: async () => undefined,
    log: () => undefined,
  });
  const runs = new RunStore({ connection, memory: { runId: undefined, remember: () => undefined } });
  const list = new RunList({ connection, folders: () => folders });
  const trainings = new Trainings({ connection, folders: () => folders, memory: { trainingId: undefined, remember: () => undefined } });
  const trainingDetails = new TrainingDetails({ connection, trainings });
  const models = new ModelStates(connection);
  const localFirst = { changed: new Signal<void>(), state: undefined };
  const learning = { changed: new Signal<void>(), state: offered };
  const panel = new PanelStateSource({
    connection, poolStore: new PoolStore(connection), runs, list, trainings, trainingDetails, models, localFirst, learning, isTrusted: () => true, folders: () => folders, undoable: () => undoable,
    stoppedMessage: 'You stopped it.',
  });
  const until = (holds: (state: PanelStateSource['state']) => boolean): Promise<void> => new Promise((resolve) => {
    const end = panel.changed.on(() => {
      if (!holds(panel.state)) return;
      end();
      resolve();
    });
  });
  return { connection, runs, trainings, panel, until };
}

describe('PanelStateSource', () => {
  it('is a whole state before anything is connected', () => {
    expect(panelOn(new FakeBackend()).panel.state).toEqual({ view: { kind: 'question' }, runs: [], trainings: [], models: [], backend: { state: 'starting' }, trusted: true });
  });

  it('offers to learn, unless a training is under way', async () => {
    const backend = new FakeBackend();
    const { connection, panel, until } = panelOn(backend, { offered: { verified: 24, other: 30 } });
    expect(panel.state.learning).toEqual({ verified: 24, other: 30 });
    const listed = until(({ trainings }) => trainings.length > 0);
    await connection.client();
    await listed;
    expect(panel.state.learning).toBeUndefined();
    backend.emit('training/changed', trainingSummaryOf(training('t1', { state: 'completed', updatedAt: 2 })));
    expect(panel.state.learning).toEqual({ verified: 24, other: 30 });
  });

  it('brings pool and past runs along as soon as there is a connection', async () => {
    const { connection, panel, until } = panelOn(new FakeBackend());
    const complete = until(({ pool, runs }) => pool !== undefined && runs.length > 0);
    await connection.client();
    await complete;
    expect(panel.state).toMatchObject({
      backend: { state: 'connected' },
      pool: { conductor: 'w', choice: { why: 'chosen' }, workers: [{ id: 'w', model: 'gpt-5', enabled: true, ready: false, reason: 'No key.' }] },
      runs: [{ runId: 'old' }],
    });
  });

  it('says why there is no backend', async () => {
    const { connection, panel } = panelOn(new FakeBackend(), { failure: new Error('Node is too old.') });
    await connection.client().catch(() => undefined);
    expect(panel.state.backend).toEqual({ state: 'unavailable', message: 'Node is too old.' });
  });

  it('shows the check of the user\'s own changes until something else is opened, and not again when it ends', () => {
    const { panel } = panelOn(new FakeBackend());
    panel.showVerification({ id: 1, folder: 'app' });
    expect(panel.state.view).toEqual({ kind: 'verification', verification: { id: 1, folder: 'app' } });
    panel.showVerification({ id: 1, folder: 'app', problem: 'It was stopped.' });
    expect(panel.state.view).toMatchObject({ verification: { problem: 'It was stopped.' } });
    panel.showVerification({ id: 2, folder: 'app' });
    panel.showVerification({ id: 1, folder: 'app', problem: 'late' });
    expect(panel.state.view).toEqual({ kind: 'verification', verification: { id: 2, folder: 'app' } });
    panel.ask();
    panel.showVerification({ id: 2, folder: 'app', problem: 'It was stopped.' });
    expect(panel.state.view.kind).toBe('question');
  });

  it('says that a stopped backend was stopped', async () => {
    const { connection, panel } = panelOn(new FakeBackend());
    await connection.client();
    await connection.stopBackend();
    expect(panel.state.backend).toEqual({ state: 'unavailable', message: 'You stopped it.' });
  });

  it('leaves the run on show for a new question, and comes back to it', async () => {
    const { runs, panel } = panelOn(new FakeBackend());
    await runs.open('r1');
    expect(panel.state.view).toEqual({ kind: 'run', run: RUN });
    panel.ask('Why not?');
    expect(panel.state.view).toEqual({ kind: 'question', draft: { question: 'Why not?' } });
    panel.showRun();
    expect(panel.state.view).toEqual({ kind: 'run', run: RUN });
    panel.ask();
    expect(panel.state.view).toEqual({ kind: 'question' });
  });

  it('shows a training in front of the open run, and the run again once that is asked for', async () => {
    const { runs, trainings, panel } = panelOn(new FakeBackend());
    await runs.open('r1');
    await trainings.show('t1');
    panel.showTraining();
    expect(panel.state).toMatchObject({ view: { kind: 'training', training: { trainingId: 't1' } }, trainings: [{ trainingId: 't1', state: 'training', steps: 50 }] });
    panel.showRun();
    expect(panel.state.view).toEqual({ kind: 'run', run: RUN });
  });

  it('leaves a training on show for a new question', async () => {
    const { trainings, panel } = panelOn(new FakeBackend());
    await trainings.show('t1');
    panel.ask();
    expect(panel.state.view.kind).toBe('question');
  });

  it('keeps a draft when a command is refused, and drops the refusal with the next thing that works', () => {
    const { panel } = panelOn(new FakeBackend());
    panel.ask('Why?');
    panel.refuse('There is no worker yet.');
    expect(panel.state).toMatchObject({ view: { draft: { question: 'Why?' } }, problem: 'There is no worker yet.' });
    panel.showRun();
    expect(panel.state.problem).toBeUndefined();
  });

  it('says that a run is about a folder which is not open here', async () => {
    for (const [folders, elsewhere] of [[['/app'], undefined], [['/other'], true], [[], true]] as const) {
      const { runs, panel } = panelOn(new FakeBackend(), { folders: [...folders] });
      await runs.open('r1');
      expect(panel.state.view).toEqual({ kind: 'run', run: RUN, elsewhere });
    }
  });

  it('has the answer that can be taken back', async () => {
    const undoable = { runId: 'r1', files: ['src/a.ts'] };
    const { runs, panel } = panelOn(new FakeBackend(), { undoable });
    await runs.open('r1');
    expect(panel.state.view).toEqual({ kind: 'run', run: RUN, undoable });
  });

  it('lists demonstrations whatever folder is open, and each once', async () => {
    const demonstration = { ...summary('demo', 5, '/home/ada/.conductor/demonstration/project-aB3xYz'), simulated: true };
    for (const folders of [['/app'], [demonstration.workspace ?? ''], []]) {
      const backend = new FakeBackend();
      const { connection, panel, until } = panelOn(backend, { folders });
      const all = [demonstration, summary('foreign', 3, '/elsewhere'), summary('old', 1)];
      backend.answer('run/list', (params) => {
        const { workspace } = params as { workspace?: string };
        return { runs: all.filter((run) => workspace === undefined || run.workspace === workspace) };
      });
      const listed = until(({ runs }) => runs.length > 0);
      await connection.client();
      await listed;
      const expected = folders.length === 0 ? ['demo', 'foreign', 'old'] : folders[0] === '/app' ? ['demo', 'old'] : ['demo'];
      expect(panel.state.runs.map(({ runId }) => runId)).toEqual(expected);
      backend.emit('run/changed', { ...demonstration, runId: 'again', acceptedAt: 9 });
      expect(panel.state.runs[0]?.runId).toBe('again');
    }
  });

  it('puts runs that begin at the top of the list, and only those of its folders', async () => {
    const backend = new FakeBackend();
    const { connection, panel, until } = panelOn(backend);
    const listed = until(({ runs }) => runs.length > 0);
    await connection.client();
    await listed;
    backend.emit('run/changed', summary('new', 2));
    backend.emit('run/changed', summary('foreign', 3, '/elsewhere'));
    expect(panel.state.runs.map(({ runId }) => runId)).toEqual(['new', 'old']);
    backend.emit('run/changed', { ...summary('old', 1), state: 'completed' });
    expect(panel.state.runs.map(({ runId, state }) => [runId, state])).toEqual([['new', 'running'], ['old', 'completed']]);
  });
});
