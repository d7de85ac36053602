import path from 'node:path';
import { WANTED_DEVICES } from '../lm/device/accelerators.ts';
import type { WantedDevice } from '../lm/device/devices.ts';
import type { ModelSettings } from '../lm/language-model.ts';
import { findModelFolder } from '../lm/process/find-model-folder.ts';
import type { CommandContext } from './command.ts';
import { writableStorage } from './storage.ts';
import { UsageError } from './usage-error.ts';

/** The model and how it runs: the options that `generate`, `logprobs` and `grad` share. */
export const MODEL_OPTIONS = {
  model: { type: 'string', short: 'm' },
  adapter: { type: 'string' },
  device: { type: 'string' },
  precision: { type: 'string' },
  storage: { type: 'string' },
  'cuda-index': { type: 'string' },
  yes: { type: 'boolean', short: 'y' },
} as const;

type Values = { readonly [Name in keyof typeof MODEL_OPTIONS]?: (Name extends 'yes' ? boolean : string) | undefined };

export const PRECISIONS = ['full', '8-bit', '4-bit'] as const satisfies readonly ModelSettings['precision'][];

/** The parsed options. Paths are not checked yet. */
export interface ModelChoice {
  readonly model: string;
  readonly adapter: string | undefined;
  readonly device: WantedDevice;
  readonly precision: (typeof PRECISIONS)[number];
  readonly storage: string | undefined;
  readonly cuda: CudaChoice;
  readonly trainable?: ModelSettings['trainable'];
}

/** Where to download missing CUDA libraries from, and whether the user has already agreed. */
export interface CudaChoice {
  /** Base address of a Python package index; if absent, the one in workers.json. */
  readonly index: string | undefined;
  readonly yes: boolean;
}

/** @throws UsageError */
export function modelChoice(values: Values): ModelChoice {
  if (!values.model) throw new UsageError('The model is missing: --model DIR, or --model OWNER/NAME for a downloaded one.');
  if (values.adapter === '') throw new UsageError('--adapter takes the folder of an adapter.');
  return {
    model: values.model,
    adapter: values.adapter,
    device: oneOf(WANTED_DEVICES, values.device ?? 'auto', '--device'),
    precision: oneOf(PRECISIONS, values.precision ?? 'full', '--precision'),
    storage: values.storage,
    cuda: { index: values['cuda-index'] || undefined, yes: values.yes ?? false },
  };
}

/** The settings to load the model with, and the folder of the adapter. @throws an error that says what to do */
export async function modelSettings(
  { model, adapter, device, precision, storage: named, trainable }: ModelChoice, context: Pick<CommandContext, 'currentFolder' | 'environment'>,
): Promise<{ readonly settings: ModelSettings; readonly adapter: string | undefined }> {
  const { currentFolder } = context;
  const storage = await writableStorage(named, context);
  const folder = await findModelFolder(model, { currentFolder, storage });
  return {
    settings: { folder, device, precision, adapters: adapter !== undefined, storage, ...(trainable && { trainable }) },
    adapter: adapter === undefined ? undefined : path.resolve(currentFolder, adapter),
  };
}

function oneOf<T extends string>(known: readonly T[], text: string, option: string): T {
  const found = known.find((value) => value === text);
  if (found === undefined) throw new UsageError(`${option} takes ${known.join(', ')}, not "${text}".`);
  return found;
}
