import { createHash } from 'node:crypto';
import path from 'node:path';
import type { AskedEvaluation } from '../../protocol/evaluation-request.ts';
import type { Simulation } from '../../protocol/simulation.ts';

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
