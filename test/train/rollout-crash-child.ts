import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { StepCopies } from '../../backend/hands/step-copies.ts';
import { Journal } from '../../backend/journal/journal.ts';
import { isProcessAlive } from '../../backend/protocol/client/process-alive.ts';
import type { RunEvent } from '../../backend/protocol/run-events.ts';
import { budgetSchema, workerConfigSchema } from '../../backend/protocol/worker-config.ts';
import { AnswerFile } from '../../backend/train/rollouts/answer-file.ts';
import { RolloutRunner } from '../../backend/train/rollouts/rollout-runner.ts';
import { projectTask } from '../../backend/train/tasks/project-task.ts';
import { CopyPool } from '../../backend/verify/copies/copy-pool.ts';
import { RunFolders } from '../../backend/verify/files/run-folder.ts';
import { MemoryBaseRunCache } from '../../backend/verify/judge/base-run-cache.ts';
import { Sandbox } from '../../backend/verify/sandbox/sandbox.ts';
import { Verifier } from '../../backend/verify/verify.ts';
import { AnswerCache } from '../../backend/workers/answer-cache.ts';
import { WorkerCaller } from '../../backend/workers/call-worker.ts';
import { loadPrices } from '../../backend/workers/limits/prices.ts';
import { ProviderLimits } from '../../backend/workers/limits/provider-limits.ts';

/*
 * A rollout whose worker has hands, for test/train/rollout-crash.test.ts. It kills itself as SIGKILL does when events of a type are about to be
 * written, `before:TYPE`, or once they are, `after:TYPE`, for the n-th time. Ends with code 0 when the rollout is judged.
 */

const [home = '', baseUrl = '', before = '', after = '', kill = '', count = '1'] = process.argv.slice(2);
const [moment, type] = kill.split(':');
let left = Number(count);

function dieAt(now: string, events: readonly RunEvent[]): void {
  if (moment !== now || !events.some((event) => event.type === type)) return;
  left -= 1;
  if (left === 0) process.kill(process.pid, 'SIGKILL');
}

const real = Journal.open(path.join(home, 'journal.sqlite'));
const journal = new Proxy(real, {
  get(target, name) {
    const value: unknown = Reflect.get(target, name, target);
    if (typeof value !== 'function') return value;
    if (name !== 'append') return value.bind(target) as unknown;
    return (...args: Parameters<Journal['append']>) => {
      dieAt('before', args[1]);
      const stored = target.append(...args);
      // The transaction around it waits for the disk by then.
      queueMicrotask(() => target.whenOnDisk(() => dieAt('after', args[1])));
      return stored;
    };
  },
});

const workspace = path.join(home, 'project');
const folders = new RunFolders(path.join(home, 'runs'), isProcessAlive);
await folders.sweep();
const sandbox = new Sandbox({ searchPath: process.env['PATH'] ?? '', homeFolder: process.env['HOME'] ?? '/', folders });
const pool = new CopyPool({ folders });
const verifier = new Verifier({ sandbox, folders, copies: pool, baseRuns: new MemoryBaseRunCache() });
const copies = new StepCopies({ copies: pool, sandbox, folders, ripgrepPath: rgPath, verifier });
const answers = new AnswerFile(path.join(home, 'answers.sqlite'));
const prices = await loadPrices();
const rollouts = new RolloutRunner({
  journal, prices, hands: { copies },
  caller: new WorkerCaller({ limits: new ProviderLimits(), prices }),
  keys: { get: () => Promise.reject(new Error('no key is needed')), forget: () => {} },
  answers: new AnswerCache(answers),
  name: 'training', scope: 'training:training', kind: 'rollout',
  budget: () => budgetSchema.parse({}),
  planner: workerConfigSchema.parse({ id: 'planner', model: 'mini', provider: 'local' }),
  parallel: 1,
  onWaiting: () => {},
  delay: async () => {},
  now: Date.now,
});
const task = projectTask({
  id: 'task', split: 'train', kind: 'repair', question: 'area() is wrong, please mend it.', context: before, shown: ['src/shapes.js'],
  path: 'src/shapes.js', before: after, after: before, targets: ['test/shapes.test.js > area'],
}, { verifier, workspace, files: workspace, test: { command: 'node --test', runner: 'node-test' }, sandboxAvailability: () => sandbox.availability() });
const worker = workerConfigSchema.parse({
  id: 'hands', model: 'hands', provider: 'openai-compatible', baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 10, outputPerMillion: 100 }, hands: 'fenced',
});
const text = 'model_id = [0]\nsubtasks = ["Mend area."]\naccess_list = [[]]';
const completion = { text, promptTokens: [1], tokens: [2], logprobs: [-1], finishReason: 'stop' as const };
const [outcome] = await rollouts.run(task, [worker], [{ sample: 0, completion }], { step: 0, place: 0 }, new AbortController().signal);
console.log(JSON.stringify(outcome));
await pool.close();
answers.close();
real.close();
