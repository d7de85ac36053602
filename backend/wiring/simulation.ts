import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isFileSystemError } from '../common/file-system-error.ts';
import { knownAnswersOf } from '../eval/evaluation/known-answers.ts';
import { gymTasks, type GymTask } from '../lab/gym/gym-tasks.ts';
import { UNTOLD_POOL } from '../lab/gym/untold-pool.ts';
import { ERROR_CODES } from '../protocol/methods.ts';
import { RequestError } from '../protocol/request-error.ts';
import type { SimulationRequest } from '../protocol/simulation.ts';
import { workerConfigSchema } from '../protocol/worker-config.ts';
import type { StartedSimulation } from '../server/simulated-pool.ts';
import type { KnownAnswers } from '../simulator/known-answers.ts';
import { SimulatorServer } from '../simulator/server.ts';
import type { Task } from '../verify/graders/tasks/grader-spec.ts';
import { readTasks, TaskFileError } from '../verify/graders/tasks/task-file.ts';
import { knowingRule } from './simulated-knowledge.ts';

/** Tasks to train on. */
const TRAINED = 40;
/** Tasks of evaluations: `conductor eval gym` takes 60 by default. */
const HELD_OUT = 200;

const CALLS_AT_ONCE = 16;

/** The last address: a training that waits for its workers finds them there again. */
const PORT_FILE = 'port';

/** A short training from which something can be seen in minutes: a high learning rate, short plans, no warm-up to speak of. */
const SHORT_TRAINING = {
  steps: 25, groupSize: 12, carriedOut: 48, maxTokens: 256, parallel: 16,
  learningRate: { peak: 2e-3, schedule: 'constant' },
  tasks: { project: false, heldOut: 0.25 },
} as const;

/**
 * Starts the simulated pool of `conductor simulate`, and writes the tasks that can be trained on.
 * @param folder for its files, created if it is missing
 * @throws RequestError where a file of tasks cannot be used; errors of the file system
 */
export async function startSimulation({ tasks: files, seed }: SimulationRequest, folder: string): Promise<StartedSimulation> {
  const trained = gymTasks({ seed, split: 'train', count: TRAINED });
  const heldOut = gymTasks({ seed, split: 'held-out', count: HELD_OUT });
  const known = await answersIn(files);
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'conductor.tasks.jsonl'), trained.map((task) => `${JSON.stringify(filed(task))}\n`).join(''));
  await writeFile(path.join(folder, 'conductor.train.json'), `${JSON.stringify(SHORT_TRAINING, null, 2)}\n`);
  const portFile = path.join(folder, PORT_FILE);
  const server = await SimulatorServer.start({
    seed, latency: 0, workers: UNTOLD_POOL, rule: knowingRule([...trained, ...heldOut], known), port: await lastPort(portFile),
  });
  await writeFile(portFile, new URL(server.url).port);
  return {
    workers: server.workers().map((worker) => workerConfigSchema.parse({ ...worker, concurrency: CALLS_AT_ONCE })),
    folder,
    close: () => server.close(),
  };
}

/** By the question. @throws RequestError */
async function answersIn(files: readonly string[]): Promise<Map<string, KnownAnswers>> {
  const known = new Map<string, KnownAnswers>();
  for (const file of files) {
    let tasks = 0;
    try {
      for await (const { question, grader: spec, reference } of readTasks(file)) {
        tasks += 1;
        const answers = knownAnswersOf({ spec, reference });
        if (answers) known.set(question.trim(), answers);
      }
    } catch (error) {
      throw error instanceof TaskFileError || isFileSystemError(error) ? unusable(error.message) : error;
    }
    if (tasks === 0) throw unusable(`There is no task in ${file}.`);
  }
  return known;
}

const unusable = (message: string): RequestError => new RequestError({ code: ERROR_CODES.refused, kind: 'task-file', message });

/** As a task of our own form. */
function filed({ id, question, kind, functionName, cases }: GymTask): Pick<Task, 'id' | 'question' | 'kind' | 'grader'> {
  return { id, question, kind, grader: { kind: 'cases', language: 'javascript', function: functionName, cases: [...cases] } };
}

async function lastPort(file: string): Promise<number | undefined> {
  const port = Number(await readFile(file, 'utf8').catch(() => ''));
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}
