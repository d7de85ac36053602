import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { WORKERS, type SimulatedWorker } from '../../../backend/simulator/pool.ts';
import type { SimulatorServer } from '../../../backend/simulator/server.ts';
import { skillsOf } from '../../../backend/simulator/skills.ts';

/**
 * Workers that never err, whatever the words of a prompt: a flow shows what happens with an answer, and not what the
 * simulator makes of it. None stands out by its description, so the simulated Conductor always plans several steps that read each
 * other.
 */
export const FLAWLESS_WORKERS: readonly SimulatedWorker[] = WORKERS.map((worker) => ({
  ...worker,
  description: 'A simulated model.',
  // Chances are log-odds of a few times the skill: this far above 1 nothing goes wrong.
  skills: skillsOf([10, 10, 10]),
}));

export interface SimulatedHome {
  readonly haveHands?: boolean;
  /** Whether what they do counts in records, as that of real workers does. */
  readonly count?: boolean;
}

/** Puts a `workers.json` with the simulator's pool into a Conductor home. */
export async function writeSimulatedHome(home: string, simulator: SimulatorServer, { haveHands = false, count = false }: SimulatedHome = {}): Promise<void> {
  const conductor = simulator.conductor();
  const pool = [...simulator.workers().map((worker) => ({ ...worker, ...(haveHands && { hands: 'tools' }) })), { ...conductor, enabled: false }];
  const workers = { version: 1, conductor: conductor.id, workers: pool.map((worker) => ({ ...worker, simulated: !count })) };
  await writeFile(path.join(home, 'workers.json'), JSON.stringify(workers));
}
