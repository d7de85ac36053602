import { createHash } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { counted } from '../../common/counted.ts';
import { mapInOrder } from '../../common/map-in-order.ts';
import { Slots } from '../../common/slots.ts';
import { shuffled } from '../../train/statistics/draws.ts';
import type { TaskMakerParts } from '../../train/tasks/project-tasks.ts';
import { isThere } from '../../train/trainings/frozen-project.ts';
import { ContainerEngineError } from '../../verify/sandbox/container/container-engine.ts';
import { MAILBOX, type Containers } from '../../verify/sandbox/container/containers.ts';
import { defaultLimits } from '../../verify/sandbox/limits/limits.ts';
import type { StepCopies } from '../../hands/step-copies.ts';
import type { FiledTask } from '../evaluation/evaluate.ts';
import { EvaluationRequestError } from '../evaluation/request-error.ts';
import { SweBenchGrader } from './grader.ts';
import { imageCommands } from './image-commands.ts';
import { PROJECT, type SweBenchFile, type SweBenchRow } from './rows.ts';

/** A task that is a row of SWE-bench. */
export interface SweBenchTask extends FiledTask {
  readonly row: SweBenchRow;
}

export interface SweBenchSourceOptions {
  readonly containers: Containers;
  readonly gatherContext: TaskMakerParts['gatherContext'];
  /** For workers with hands. */
  readonly copies: Pick<StepCopies, 'open'>;
  /** Where the projects' files stay (absolute), so that an evaluation that goes on need not take them out of their images again. */
  readonly folder: string;
  /** At most this many rows, drawn by the seed; all by default. */
  readonly limit?: number | undefined;
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onTaken?: ((told: { readonly tried: number; readonly candidates: number; readonly admitted: number }) => void) | undefined;
}

/** For taking a project out of its image. */
const TIMEOUT_MS = 10 * 60_000;

/** Containers at the same time. Their tests use several cores. */
const AT_ONCE = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));

/** Image names in one message. */
const NAMED = 5;

/**
 * Rows of SWE-bench as tasks: the project comes out of the row's image, the question is the row's, and its tests judge in the image.
 * @throws EvaluationRequestError, an error of the file system, the signal's reason
 */
export async function sweBenchSource({ rows, notRun }: SweBenchFile, { containers, gatherContext, copies, folder, limit, seed, signal, onTaken }: SweBenchSourceOptions): Promise<SweBenchTask[]> {
  if (rows.length === 0 && notRun.size > 0) throw new EvaluationRequestError(`No row of SWE-bench can be run here. ${[...notRun.values()].map(({ message }) => message).join(' ')}`);
  const chosen = limit === undefined || limit >= rows.length ? rows : shuffled(rows, seed, 'limit', 'SWE-bench').slice(0, limit);
  const images = await imagesOf(chosen, containers);
  const others = [...notRun.values()].reduce((sum, { rows: count }) => sum + count, 0);
  const slots = new Slots(AT_ONCE);
  let taken = 0;
  return await mapInOrder(chosen, AT_ONCE, async (row) => {
    const image = images.get(row.image) as string;
    const files = await filesOf(row, { image, containers, folder, signal });
    const { text: context, shown } = await gatherContext(files, { question: row.question, paths: [] }, signal);
    const elsewhere = imageCommands({ row, image, files, containers, slots });
    onTaken?.({ tried: (taken += 1), candidates: chosen.length, admitted: taken });
    return {
      id: row.id, question: row.question, context, row, form: others === 0 ? row.form : `${row.form}, without ${counted(others, 'row')} that ${others === 1 ? 'is' : 'are'} not run here`,
      // The image by its id: a name can be given to another one meanwhile.
      grader: new SweBenchGrader({ ...row, image }, { containers, slots, files, shown }),
      project: { shown, facts: {} },
      hands: { name: JSON.stringify([row.id, image]), folder: files, copies: { open: (options, of) => copies.open({ ...options, elsewhere }, of) } },
      fingerprint: createHash('sha256').update(JSON.stringify([row, image])).digest('hex'),
    };
  });
}

/** The ids of the rows' images, by their names. @throws EvaluationRequestError if one is not there: none is downloaded */
async function imagesOf(rows: readonly SweBenchRow[], containers: Containers): Promise<ReadonlyMap<string, string>> {
  const images = new Map<string, string>();
  const missing: { readonly name: string; readonly why: string }[] = [];
  for (const name of new Set(rows.map(({ image }) => image))) {
    const { available, reason = '', remedy = reason } = await containers.availability(name);
    if (available) images.set(name, await containers.idOf(name));
    else missing.push({ name, why: remedy });
  }
  const [first] = missing;
  if (!first) return images;
  const more = missing.length > NAMED ? `, and ${missing.length - NAMED} more` : '';
  throw new EvaluationRequestError(`Rows of SWE-bench are judged in images of their own, of which ${missing.length} of ${missing.length + images.size} are not here. What is wanted: ${missing.slice(0, NAMED).map(({ why }) => why).join('; ')}${more}.`);
}

/** The files that Git tracks in the image's project. They are there whole or not at all. */
async function filesOf({ id }: SweBenchRow, { image, containers, folder, signal }: { readonly image: string; readonly containers: Containers; readonly folder: string; readonly signal: AbortSignal }): Promise<string> {
  const files = path.join(folder, `${id}-${createHash('sha256').update(image).digest('hex').slice(0, 12)}`);
  if (await isThere(files)) return files;
  const partial = `${files}.partial`;
  await rm(partial, { recursive: true, force: true });
  await mkdir(folder, { recursive: true, mode: 0o700 });
  try {
    const { exitCode, exceeded, stderr } = await containers.runImage({
      image, signal, timeoutMs: TIMEOUT_MS, limits: defaultLimits(TIMEOUT_MS), taken: { files: partial },
      script: [
        `mkdir ${MAILBOX}/files`,
        `git -c safe.directory='*' -C ${PROJECT} archive --format=tar --output=${MAILBOX}/project.tar HEAD && tar -xf ${MAILBOX}/project.tar -C ${MAILBOX}/files`,
      ].join('\n'),
    });
    if (exitCode !== 0) throw new EvaluationRequestError(`The project of ${id} cannot be taken out of its image: ${exceeded ?? stderr.trim().slice(-300)}`);
  } catch (error) {
    if (error instanceof ContainerEngineError) throw new EvaluationRequestError(`The project of ${id} cannot be taken out of its image: ${error.message}`, { cause: error });
    throw error;
  }
  await rename(partial, files);
  return files;
}
