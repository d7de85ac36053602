import { appendFile, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';
import { taskNoteSchema } from '../../protocol/training.ts';
import { projectTaskSchema, triedCandidateSchema, type TriedCandidate } from '../tasks/project-tasks.ts';

const testCommandSchema = z.object({ command: z.string(), runner: z.string(), reports: z.string().optional(), image: z.string().optional() });

/** The tasks of a training. They do not change once it has started. */
export const frozenTasksSchema = z.object({
  /** The command that judges tasks of the project. */
  test: testCommandSchema.optional(),
  project: z.array(projectTaskSchema),
  /**
   * The person's file of tasks, which `TrainingFolder.taskFile` keeps: SHA-256 of its contents, and the ids of its tasks. `isDrawn`: the path
   * names several files, and what is kept was drawn from them.
   */
  file: z.object({ path: z.string(), sha256: z.string(), train: z.array(z.string()), heldOut: z.array(z.string()), isDrawn: z.boolean().optional() }).optional(),
});
export type FrozenTasks = z.infer<typeof frozenTasksSchema>;

/** Decisions on candidates for tasks of the project, and how many were not tried. */
const decisionsSchema = z.object({ untried: z.number().int(), decided: z.array(taskNoteSchema.omit({ source: true })).readonly() });
export type Decisions = z.infer<typeof decisionsSchema>;

/**
 * A folder (absolute) that keeps tasks from the time when they are made: the tasks (`tasks.json`), the decisions on candidates for tasks of a
 * project (`decisions.json`), the project's files that they are made of (`files/`), and the candidates tried so far (`tried.jsonl`). Each file
 * is replaced whole or not at all.
 */
export class TasksFolder {
  readonly path: string;

  constructor(folder: string) {
    this.path = folder;
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

  saveTasks(tasks: FrozenTasks): Promise<void> {
    return replaceFile(path.join(this.path, 'tasks.json'), JSON.stringify(tasks));
  }

  saveDecisions(decisions: Decisions): Promise<void> {
    return replaceFile(path.join(this.path, 'decisions.json'), JSON.stringify(decisions));
  }
}

function triedIn(line: string): TriedCandidate | undefined {
  try {
    return triedCandidateSchema.safeParse(JSON.parse(line)).data;
  } catch {
    return undefined;
  }
}

export async function readJson<Schema extends z.ZodType>(file: string, schema: Schema): Promise<z.output<Schema> | undefined> {
  const text = await unlessMissing(readFile(file, 'utf8'));
  try {
    return text === undefined ? undefined : schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

export async function unlessMissing<T>(reading: Promise<T>): Promise<T | undefined> {
  try {
    return await reading;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}
