import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { writeFolder } from '../../common/write-folder.ts';
import { type NamedTensor, writeSafetensors } from '../checkpoint/write-safetensors.ts';
import { PROJECTIONS, type Projection } from './projections.ts';
import { type LoraPair, loraTensorName } from './read-adapter.ts';

/** An adapter to write. `alpha` is the rank times the factor of `b · a`. */
export interface AdapterToWrite {
  readonly rank: number;
  readonly alpha: number;
  /** The name or path of the base model, for information. */
  readonly baseModel: string;
  /** One map for each decoder layer. */
  readonly layers: readonly ReadonlyMap<Projection, LoraPair>[];
}

/**
 * Writes a PEFT folder for peft 0.17 and later, in float32. The folder (absolute) must not exist; it appears complete or
 * not at all. @throws file system errors
 */
export function writeAdapter(folder: string, adapter: AdapterToWrite): Promise<void> {
  return writeFolder(folder, async (staging) => {
    await writeFile(path.join(staging, 'adapter_config.json'), `${JSON.stringify(configOf(adapter), null, 2)}\n`);
    await writeSafetensors(path.join(staging, 'adapter_model.safetensors'), tensorsOf(adapter), { format: 'pt' });
  });
}

function configOf({ rank, alpha, baseModel, layers }: AdapterToWrite) {
  return {
    peft_type: 'LORA',
    task_type: 'CAUSAL_LM',
    base_model_name_or_path: baseModel,
    r: rank,
    lora_alpha: alpha,
    lora_dropout: 0,
    target_modules: PROJECTIONS.filter((projection) => layers.some((layer) => layer.has(projection))),
    bias: 'none',
    init_lora_weights: true,
    inference_mode: true,
    use_rslora: false,
    use_dora: false,
    fan_in_fan_out: false,
    modules_to_save: null,
  };
}

/** The tensors of a PEFT folder, layer by layer. */
export function tensorsOf({ rank, layers }: Pick<AdapterToWrite, 'rank' | 'layers'>): NamedTensor[] {
  return layers.flatMap((pairs, layer) => PROJECTIONS.flatMap((projection): NamedTensor[] => {
    const pair = pairs.get(projection);
    if (!pair) return [];
    return [
      { name: loraTensorName(layer, projection, 'A'), shape: [rank, pair.a.length / rank], data: pair.a },
      { name: loraTensorName(layer, projection, 'B'), shape: [pair.b.length / rank, rank], data: pair.b },
    ];
  }));
}
