import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { taskNoteSchema, trainingSchema, type Training } from '../../protocol/training.ts';
import { replaceFile } from '../../common/replace-file.ts';
import { projectTaskSchema, triedCandidateSchema, type TriedCandidate } from '../tasks/project-tasks.ts';
import { stepName, VERSIONS } from '../grpo/checkpoint-store.ts';

const testCommandSchema = z.object({ command: z.string(), runner: z.string(), reports: z.string().optional(), image: z.string().optional() });

/** The tasks of a training. They do not change once it has started. */
export const frozenTasksSchema = z.object({
  /** The command that judges tasks of the project. */
  test: testCommandSchema.optional(),
  project: z.array(projectTaskSchema),
  /** The person's file of tasks, of which `TrainingFolder.taskFile` is a copy: SHA-256 of its contents, and the ids of its tasks. */
  file: z.object({ path: z.string(), sha256: z.string(), train: z.array(z.string()), heldOut: z.array(z.string()) }).optional(),
});
export type FrozenTasks = z.infer<typeof frozenTasksSchema>;

/** Decisions on candidates for tasks of the project, and how many were not tried. */
const decisionsSchema = z.object({ untried: z.number().int(), decided: z.array(taskNoteSchema.omit({ source: true })).readonly() });
export type Decisions = z.infer<typeof decisionsSchema>;

/**
 * The folder (absolute) of one training: its state (`training.json`), its tasks (`tasks.json`), the decisions on candidates for tasks
 * (`decisions.json`), the project's files that tasks are made of (`files/`), the candidates tried so far (`tried.jsonl`), workers' answers (`answers.sqlite`), checkpoints and versions
 * (`checkpoint-store.ts`). Each file is replaced whole or not at all.
 */
export class TrainingFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
  }

  get answers(): string {
    return path.join(this.path, 'answers.sqlite');
  }

  /** The project's files as they were when its tasks were made, as long as they are needed. */
  get files(): string {
    return path.join(this.#kept, 'project');
  }

  get #kept(): string {
    return path.join(this.path, 'files');
  }

  forgetFiles(): Promise<void> {
    return rm(this.#kept, { recursive: true, force: true });
  }

  /** The person's file of tasks as it was when the training began. */
  get taskFile(): string {
    return path.join(this.path, 'tasks.jsonl');
  }

  /** The adapter after a step: a PEFT folder. */
  version(step: number): string {
    return path.join(this.path, VERSIONS, stepName(step));
  }

  /** Metrics for other tools: one object per line, named as in TRL. */
  get curves(): string {
    return path.join(this.path, 'metrics.jsonl');
  }

  /** Undefined where it is missing, invalid or unreadable: one such training must not hide the others. */
  training(): Promise<Training | undefined> {
    return readJson(path.join(this.path, 'training.json'), trainingSchema).catch(() => undefined);
  }

  /** Undefined before they are made. @throws file system errors: tasks that cannot be read must not be made again */
  tasks(): Promise<FrozenTasks | undefined> {
    return readJson(path.join(this.path, 'tasks.json'), frozenTasksSchema);
  }

  decisions(): Promise<Decisions | undefined> {
    return readJson(path.join(this.path, 'decisions.json'), decisionsSchema);
  }

  /** The results of the candidates tried so far, by key. */
  async tried(): Promise<ReadonlyMap<string, TriedCandidate>> {
    const text = await readFile(this.#tried, 'utf8').catch(() => '');
    // A killed process can leave an incomplete last line.
    return new Map(text.split('\n').flatMap((line) => triedIn(line) ?? []).map((one) => [one.key, one]));
  }

  async keepTried(tried: TriedCandidate): Promise<void> {
    await appendFile(this.#tried, `\n${JSON.stringify(tried)}`);
  }

  /** Called once the tasks are fixed. */
  forgetTried(): Promise<void> {
    return rm(this.#tried, { force: true });
  }

  get #tried(): string {
    return path.join(this.path, 'tried.jsonl');
  }

  async saveTraining(training: Training): Promise<void> {
    await mkdir(this.path, { recursive: true, mode: 0o700 });
    await replaceFile(path.join(this.path, 'training.json'), JSON.stringify(training));
    const lines = training.metrics.map((metrics, index) => `${JSON.stringify({ step: index + 1, ...metrics })}\n`);
    await replaceFile(this.curves, lines.join(''));
  }

  saveTasks(tasks: FrozenTasks): Promise<void> {
    return replaceFile(path.join(this.path, 'tasks.json'), JSON.stringify(tasks));
  }

  saveDecisions(decisions: Decisions): Promise<void> {
    return replaceFile(path.join(this.path, 'decisions.json'), JSON.stringify(decisions));
  }

  remove(): Promise<void> {
    return rm(this.path, { recursive: true, force: true });
  }
}

/** The folders of all trainings under `root` (absolute). @throws file system errors */
export async function trainingFolders(root: string): Promise<TrainingFolder[]> {
  const names = await unlessMissing(readdir(root)) ?? [];
  return names.sort().map((name) => new TrainingFolder(path.join(root, name)));
}

function triedIn(line: string): TriedCandidate | undefined {
  try {
    return triedCandidateSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

async function readJson<Schema extends z.ZodType>(file: string, schema: Schema): Promise<z.output<Schema> | undefined> {
  const text = await unlessMissing(readFile(file, 'utf8'));
  try {
    return text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
