import { createHash } from 'node:crypto';
import { access, constants, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';
import type { AskedEvaluation } from '../../protocol/evaluation-request.ts';
import type { Simulation } from '../../protocol/simulation.ts';
import { EvaluationFileError } from './evaluation-file.ts';
import { FILES } from './files.ts';

/** The folder (absolute) that has one folder for each evaluation, unless a person names another. */
export const evaluationsFolder = (home: string): string => path.join(home, 'evaluations');

/**
 * The folder of an evaluation by its tasks. Answers are kept by question, so other contestants and more seeds use the same folder, and so do the
 * command line and VS Code.
 */
export function evaluationFolder(home: string, { sources, seed, limit, project, simulated, dates, bigCodeBench }: AskedEvaluation, simulation: Simulation | undefined): string {
  const isSimulated = simulated && !simulation;
  const { start, end } = dates ?? {};
  const narrowed = { ...(start !== undefined && { start }), ...(end !== undefined && { end }), ...(bigCodeBench === 'complete' && { complete: true }) };
  const identity = [sources, isSimulated ? seed : null, limit, ...(project ? [project.workspace] : []), ...(Object.keys(narrowed).length > 0 ? [narrowed] : [])];
  const name = createHash('sha256').update(JSON.stringify(identity)).digest('hex').slice(0, 12);
  return path.join(evaluationsFolder(home), simulation ? `${name}-simulation-${simulation.seed}` : name);
}

const NAMES: readonly string[] = Object.values(FILES);
/** By one of these a folder is known as that of an evaluation. */
const MARKS: readonly string[] = [FILES.kept, FILES.answers];

/** Whether an evaluation writes a file or a folder of this name. SQLite has files beside its own, and tasks of a project a folder. */
export const isOfEvaluation = (name: string): boolean => NAMES.includes(name) || /^evaluation\.sqlite-(?:wal|shm|journal)$|^project-[0-9a-f]{12}$/.test(name);

/**
 * Makes the folder of an evaluation, or takes it where nothing of somebody else would be overwritten.
 * @returns whether it was made
 * @throws EvaluationFileError
 */
export async function takeFolder(folder: string): Promise<boolean> {
  const refused = (why: string, cause?: unknown): EvaluationFileError => new EvaluationFileError(`The folder ${folder} cannot be used: ${why}. Choose another one with --out.`, { cause });
  let isNew: boolean;
  try {
    isNew = (await mkdir(folder, { recursive: true, mode: 0o700 })) !== undefined;
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refused(whyNoFolder(error), error);
  }
  const names = new Set(await readdir(folder));
  if (MARKS.some((name) => names.has(name))) return isNew;
  const other = NAMES.find((name) => names.has(name));
  if (other !== undefined) throw refused(`"${other}" in it is of no evaluation and would be overwritten`);
  return isNew;
}

function whyNoFolder(error: unknown): string {
  switch (error instanceof Error && 'code' in error ? error.code : undefined) {
    case 'EEXIST': case 'ENOTDIR': return 'there is a file of that name, or of a folder above it';
    case 'EACCES': case 'EPERM': case 'EROFS': return 'you have no right to write there';
    default: return error instanceof Error ? error.message : String(error);
  }
}
