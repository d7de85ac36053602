import { existsSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { BUNDLED_MODEL } from '../protocol/bundled-conductor.ts';
import { workerConfigSchema, type WorkerConfig } from '../protocol/worker-config.ts';
import { baseOf } from '../train/trainings/adapter-base.ts';

/** The model that is shipped with us. Everywhere but where it is loaded it goes by its name. */
export interface BundledModel {
  /** Absolute; another one in each version of the extension. */
  readonly folder: string;
  /** Plans where workers.json names nobody. */
  readonly conductor: WorkerConfig;
  /** SHA-256 of its weights. */
  base(): Promise<string>;
}

/** From this file in the sources, and from the bundle that it is part of. */
const MEDIA = import.meta.url.endsWith('.ts') ? '../../media' : '../media';

/** Undefined in a build without it. */
export function findBundledModel(): BundledModel | undefined {
  const folder = fileURLToPath(new URL(`${MEDIA}/${BUNDLED_MODEL}`, import.meta.url));
  if (!existsSync(path.join(folder, 'config.json'))) return undefined;
  let base: Promise<string> | undefined;
  return {
    folder,
    conductor: workerConfigSchema.parse({ id: BUNDLED_MODEL, provider: 'local', model: BUNDLED_MODEL, promptProfile: 'mini', enabled: false }),
    base: () => (base ??= baseOf(folder)),
  };
}
