import { beforeEach, expect, test, vi } from 'vitest';
import { workerConfigSchema, type WorkerConfig } from '../../backend/protocol/worker-config.ts';
import type { BackendConnection } from '../../extension/common/backend-connection.ts';
import { letHands } from '../../extension/workers/let-hands.ts';
import { tryWorkers } from '../../extension/workers/try-workers.ts';

/* From what a try shows of a worker's hands to what is saved of them. */

const shown = vi.hoisted(() => ({ questions: [] as string[], click: undefined as string | undefined }));

vi.mock('vscode', () => ({
  l10n: { t: (text: string, ...values: unknown[]) => text.replace(/\{(\d)\}/g, (_, index: string) => String(values[Number(index)])) },
  ProgressLocation: { Notification: 15 },
  window: {
    showInformationMessage: (question: string) => Promise.resolve(shown.questions.push(question)).then(() => shown.click),
    withProgress: (_options: object, task: (progress: object, token: object) => unknown) =>
      task({ report: () => undefined }, { isCancellationRequested: false, onCancellationRequested: () => ({ dispose: () => undefined }) }),
  },
}));

beforeEach(() => void Object.assign(shown, { questions: [], click: undefined }));

const worker = (id: string, hands?: WorkerConfig['hands']): WorkerConfig =>
  workerConfigSchema.parse({ id, provider: 'openai-compatible', model: 'm', baseUrl: 'http://127.0.0.1:8080', ...(hands && { hands }) });

/** A backend at which only an address with a version answers. */
const connection = {
  request: (_method: string, { worker: { id, baseUrl } }: { worker: WorkerConfig }) => Promise.resolve(
    baseUrl?.endsWith('/v1') ? { ok: true, message: '', hands: id === 'plain' ? undefined : 'tools' } : { ok: false, kind: 'not-found', message: 'no' },
  ),
} as unknown as Pick<BackendConnection, 'request'>;

test('a worker that answers has the hands that its try showed, at the address that answered', async () => {
  const tried = await tryWorkers(connection, [worker('able'), worker('plain')]);
  expect(tried.map(({ problem }) => problem)).toEqual([undefined, undefined]);
  expect(tried.map((one) => [one.worker.baseUrl, one.worker.hands])).toEqual([['http://127.0.0.1:8080/v1', 'tools'], ['http://127.0.0.1:8080/v1', undefined]]);
});

test('nobody is asked about workers without hands', async () => {
  expect(await letHands([worker('plain')])).toEqual([worker('plain')]);
  expect(shown.questions).toEqual([]);
});

test.each([['Allow', ['tools', undefined, 'fenced']], ['Answers Only', [undefined, undefined, undefined]], [undefined, [undefined, undefined, undefined]]] as const)(
  'the person who says %s decides for all at once', async (click, expected) => {
    shown.click = click;
    const saved = await letHands([worker('a', 'tools'), worker('plain'), worker('b', 'fenced')]);
    expect(saved.map(({ hands }) => hands)).toEqual(expected);
    expect(shown.questions).toEqual(['May 2 workers look at files, edit them and run commands in a private copy of the project?']);
  });
