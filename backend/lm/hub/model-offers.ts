import type { Device } from '../device/devices.ts';
import { MODEL_TABLE, type TableModel } from './model-table.ts';
import { recommendModel } from './recommend-model.ts';

/** A model that can be downloaded, without its geometry. */
export type OfferedModel = Pick<TableModel, 'repo' | 'licence' | 'parameters' | 'downloadBytes'>;

/** The model recommended for this machine, in the form for clients and scripts. */
export interface RecommendedModel {
  readonly repo: string;
  readonly precision: 'full' | '8-bit' | '4-bit';
  readonly device: Device;
  readonly neededBytes: number;
  readonly reason: string;
}

/** The models that can be downloaded, and the best one for the given memory, if any fits. */
export function modelOffers(memory: Parameters<typeof recommendModel>[0]): {
  readonly offered: OfferedModel[];
  readonly recommended: RecommendedModel | undefined;
} {
  return {
    offered: MODEL_TABLE.map(({ repo, licence, parameters, downloadBytes }) => ({ repo, licence, parameters, downloadBytes })),
    recommended: recommendedModel(memory),
  };
}

function recommendedModel(memory: Parameters<typeof recommendModel>[0]): RecommendedModel | undefined {
  const best = recommendModel(memory);
  if (!best) return undefined;
  const { model: { repo }, precision, device, neededBytes, reason } = best;
  const isQuantized = precision === '4-bit' || precision === '8-bit';
  return { repo, precision: isQuantized ? precision : 'full', device, neededBytes, reason };
}
