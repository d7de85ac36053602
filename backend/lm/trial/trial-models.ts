import path from 'node:path';
import { PROJECTIONS } from '../adapter/projections.ts';
import type { Adapter } from '../adapter/read-adapter.ts';
import type { DecoderConfig } from '../checkpoint/decoder-config.ts';
import { type NewCheckpoint, writeNewCheckpoint } from '../checkpoint/new-checkpoint.ts';
import { normals } from '../checkpoint/normals.ts';
import { type Checkpoint, openCheckpoint } from '../checkpoint/open-checkpoint.ts';
import { newAdapterLayers } from '../trainer/new-adapter.ts';

/** Small, and with the head size of most models: kernels differ with it. */
const TO_COMPARE: NewCheckpoint = {
  vocabularySize: 256, hiddenSize: 128, intermediateSize: 192, layers: 2, attentionHeads: 2, keyValueHeads: 1, maximumPositions: 192, stopTokenId: 0, seed: 1,
};

/** Layers as large as those of a model of half a billion weights, so that a step takes its time as theirs do. 32 million weights. */
const TO_MEASURE: NewCheckpoint = {
  vocabularySize: 8_192, hiddenSize: 1_024, intermediateSize: 2_816, layers: 2, attentionHeads: 16, keyValueHeads: 4, maximumPositions: 192, stopTokenId: 0, seed: 2,
};

/** A model with random weights in `folder`, which has room for it. @throws file system errors */
export async function modelFor(purpose: 'comparing' | 'measuring', folder: string): Promise<Checkpoint> {
  const place = path.join(folder, purpose);
  await writeNewCheckpoint(place, purpose === 'comparing' ? TO_COMPARE : TO_MEASURE);
  return openCheckpoint(place);
}

const RANK = 4;

/** An adapter that changes the model, of all projections. */
export function randomAdapter(config: DecoderConfig): Adapter {
  const begun = newAdapterLayers(config, { rank: RANK, alpha: RANK, projections: PROJECTIONS, seed: 3 });
  const layers = begun.map((pairs, layer) => new Map([...pairs].map(([projection, { a, b }], index) =>
    [projection, { a, b: normals(b.length, 7 * layer + index).map((value) => value / 16) }] as const)));
  return { name: 'trial', folder: '', rank: RANK, scaling: 1, targets: PROJECTIONS, layers, version: 'trial' };
}
