import { createHash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { counted } from '../../common/counted.ts';
import { replaceFile } from '../../common/replace-file.ts';
import type { TrainingConfig } from '../../protocol/training.ts';
import { graderSpecSchema } from '../../verify/graders/tasks/grader-spec.ts';
import { readTasks } from '../../verify/graders/tasks/task-file.ts';
import { shuffled } from '../statistics/draws.ts';
import { TrainingError } from './training-error.ts';

export type TaskMix = NonNullable<TrainingConfig['tasks']['mix']>;

/** A task that can be drawn. */
interface Drawable {
  /** Counted in its file, from 0. */
  readonly place: number;
  readonly id: string;
}

/** The ids of drawn tasks. */
export interface DrawnTasks {
  readonly train: readonly string[];
  readonly heldOut: readonly string[];
}

/**
 * Draws the same number of tasks from each file and writes them into `kept`, in our own form. The draw follows from the seed and the files.
 * A question is drawn once, however often and in however many files it is. Files are read twice, because some have gigabytes of test cases.
 * @throws TrainingError where a file has too few; TaskFileError; an error of the file system
 */
export async function drawMix({ files, each, heldOut, tried }: TaskMix, { workspace, seed, kept }: { readonly workspace: string; readonly seed: number; readonly kept: string }): Promise<DrawnTasks> {
  const isBetween = tried === undefined ? () => true : await sometimesSolved(path.resolve(workspace, tried));
  const asked = new Set<string>();
  const ids = new Set<string>();
  const drawn: { readonly file: string; readonly train: readonly Drawable[]; readonly heldOut: readonly Drawable[] }[] = [];
  for (const name of files) {
    const file = path.resolve(workspace, name);
    const all = shuffled(await drawableOf(file, { asked, ids, isBetween }), seed, 'mix', path.basename(name));
    if (all.length < each + heldOut) throw tooFew(name, all.length, { each, heldOut, tried });
    drawn.push({ file, train: all.slice(0, each), heldOut: all.slice(each, each + heldOut) });
  }
  await replaceFile(kept, async (handle) => {
    for (const { file, train, heldOut: rest } of drawn) {
      const idAt = new Map([...train, ...rest].map(({ place, id }) => [place, id]));
      let place = 0;
      for await (const { question, grader } of readTasks(file)) {
        const id = idAt.get(place);
        place += 1;
        if (id !== undefined) await handle.write(`${JSON.stringify({ id, question, grader })}\n`);
      }
    }
  });
  const idsOf = (list: readonly Drawable[]): string[] => list.map(({ id }) => id);
  return { train: drawn.flatMap(({ train }) => idsOf(train)), heldOut: drawn.flatMap((one) => idsOf(one.heldOut)) };
}

async function drawableOf(
  file: string, { asked, ids, isBetween }: { readonly asked: Set<string>; readonly ids: Set<string>; readonly isBetween: (id: string) => boolean },
): Promise<Drawable[]> {
  const found: Drawable[] = [];
  let place = -1;
  for await (const { id: name, question, grader } of readTasks(file)) {
    place += 1;
    const digest = createHash('sha256').update(question).digest('base64');
    // Published files have a few answers that are longer than our own form takes.
    if (asked.has(digest) || !isBetween(name) || !graderSpecSchema.safeParse(grader).success) continue;
    asked.add(digest);
    let id = name;
    for (let use = 2; ids.has(id); use += 1) id = `${name} (${use})`;
    ids.add(id);
    found.push({ place, id });
  }
  return found;
}

const MAX_RESULTS_BYTES = 256 * 1024 * 1024;

/** What of an evaluation's results is read. */
const resultsSchema = z.object({ samples: z.array(z.object({ task: z.string(), verified: z.boolean() })) });

/** Whether an evaluation saw a task solved at some tries and not at others. @throws TrainingError */
async function sometimesSolved(file: string): Promise<(id: string) => boolean> {
  const read = async (): Promise<z.infer<typeof resultsSchema>> => {
    if ((await stat(file)).size > MAX_RESULTS_BYTES) throw new TrainingError(`${file} is too large for results of an evaluation.`);
    return resultsSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  };
  const { samples } = await read().catch((error: unknown) => {
    if (error instanceof TrainingError) throw error;
    throw new TrainingError(`${file} cannot be read as the results.json of an evaluation: name such a file in tasks.mix.tried, or none.`);
  });
  const solved = new Set(samples.filter(({ verified }) => verified).map(({ task }) => task));
  const failed = new Set(samples.filter(({ verified }) => !verified).map(({ task }) => task));
  return (id) => solved.has(id) && failed.has(id);
}

const tooFew = (file: string, has: number, { each, heldOut, tried }: Pick<TaskMix, 'each' | 'heldOut' | 'tried'>): TrainingError => new TrainingError(
  `${file} has ${counted(has, 'task')}${tried === undefined ? '' : ` that ${path.basename(tried)} saw solved at some tries and not at others`}, and ${each} to train on with ${heldOut} to hold out are wanted: lower tasks.mix.each or tasks.mix.heldOut.`,
);
