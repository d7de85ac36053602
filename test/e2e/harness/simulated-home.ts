import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { SimulatorServer } from '../../../backend/simulator/server.ts';

/** Puts a `workers.json` with the simulator's pool into a Conductor home. */
export async function writeSimulatedHome(home: string, simulator: SimulatorServer): Promise<void> {
  const conductor = simulator.conductor();
  const workers = { version: 1, conductor: conductor.id, workers: [...simulator.workers(), { ...conductor, enabled: false }] };
  await writeFile(path.join(home, 'workers.json'), JSON.stringify(workers));
}
