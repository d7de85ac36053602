import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { MINI_PLANNER } from '../conductor/mini-planner.ts';
import { BUNDLED_MODEL, type WorkerConfig } from '../protocol/worker-config.ts';
import { baseOf } from '../train/trainings/adapter-base.ts';

/** The model shipped with Conductor. It is referred to by name everywhere except where it is loaded. */
export interface BundledModel {
  /** Absolute path; differs between versions of the extension. */
  readonly folder: string;
  /** The Conductor if workers.json names none. */
  readonly conductor: WorkerConfig;
  /** SHA-256 of its weights. */
  base(): Promise<string>;
}

/** Relative to this file in the sources, or to the bundle. */
const MEDIA = import.meta.url.endsWith('.ts') ? '../../media' : '../media';

/** Undefined in a build without the model. */
export function findBundledModel(): BundledModel | undefined {
  const folder = fileURLToPath(new URL(`${MEDIA}/${BUNDLED_MODEL}`, import.meta.url));
  if (!existsSync(path.join(folder, 'config.json'))) return undefined;
  let base: Promise<string> | undefined;
  return {
    folder,
    conductor: MINI_PLANNER,
    base: () => (base ??= baseOf(folder)),
  };
}
