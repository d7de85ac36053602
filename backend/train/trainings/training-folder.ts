import { appendFile, mkdir, readdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { taskNoteSchema, trainingSchema, type Training } from '../../protocol/training.ts';
import { replaceFile } from '../../common/replace-file.ts';
import { projectTaskSchema, triedCandidateSchema, type TriedCandidate } from '../tasks/project-tasks.ts';
import { stepName, VERSIONS } from '../grpo/checkpoint-store.ts';

const testCommandSchema = z.object({ command: z.string(), runner: z.string(), reports: z.string().optional(), image: z.string().optional() });

/** The tasks of a training, frozen when it begins. */
export const frozenTasksSchema = z.object({
  /** What judges those of the project. */
  test: testCommandSchema.optional(),
  project: z.array(projectTaskSchema),
  /** Of a file of tasks: SHA-256 of its contents, and which of its tasks are held out. */
  file: z.object({ path: z.string(), sha256: z.string(), train: z.array(z.string()), heldOut: z.array(z.string()) }).optional(),
});
export type FrozenTasks = z.infer<typeof frozenTasksSchema>;

/** What was decided on candidates for tasks of the project, and how many were not tried. */
const decisionsSchema = z.object({ untried: z.number().int(), decided: z.array(taskNoteSchema.omit({ source: true })).readonly() });
export type Decisions = z.infer<typeof decisionsSchema>;

/**
 * The folder of one training (absolute): how it stands (`training.json`), its tasks (`tasks.json`), why those and no others
 * (`decisions.json`), what came of candidates for tasks while these are made (`tried.jsonl`), what workers answered (`answers.sqlite`), checkpoints and versions (`training-store.ts`). Each file is replaced
 * whole or not at all.
 */
export class TrainingFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
  }

  get answers(): string {
    return path.join(this.path, 'answers.sqlite');
  }

  /** The adapter that was learned by the end of a step: a PEFT folder. */
  version(step: number): string {
    return path.join(this.path, VERSIONS, stepName(step));
  }

  /** Curves for other tools: one object a line, by TRL's names. */
  get curves(): string {
    return path.join(this.path, 'metrics.jsonl');
  }

  /** Undefined where it is not there, or not readable as one. */
  training(): Promise<Training | undefined> {
    return readJson(path.join(this.path, 'training.json'), trainingSchema);
  }

  tasks(): Promise<FrozenTasks | undefined> {
    return readJson(path.join(this.path, 'tasks.json'), frozenTasksSchema);
  }

  decisions(): Promise<Decisions | undefined> {
    return readJson(path.join(this.path, 'decisions.json'), decisionsSchema);
  }

  /** What came of the candidates that were tried so far, by their keys. */
  async tried(): Promise<ReadonlyMap<string, TriedCandidate>> {
    const text = await readFile(this.#tried, 'utf8').catch(() => '');
    // Of a process that was killed the last line may be torn.
    return new Map(text.split('\n').flatMap((line) => triedIn(line) ?? []).map((one) => [one.key, one]));
  }

  async keepTried(tried: TriedCandidate): Promise<void> {
    await appendFile(this.#tried, `\n${JSON.stringify(tried)}`);
  }

  /** The tasks are frozen: how they were found is not asked any more. */
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

/** All trainings of a folder (absolute). */
export async function trainingFolders(root: string): Promise<TrainingFolder[]> {
  const names = await readdir(root).catch(() => []);
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
  try {
    return schema.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
  } catch {
    return undefined;
  }
}
