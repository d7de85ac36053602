import { basename } from 'node:path';
import { type Adapter, readAdapter } from '../adapter/read-adapter.ts';
import { tensorsOf, writeAdapter } from '../adapter/write-adapter.ts';
import type { Checkpoint } from '../checkpoint/open-checkpoint.ts';
import type { DecoderSession } from '../decoder/decoder-session.ts';
import { ModelRequestError } from '../decoder/request-error.ts';
import { type NewAdapter, newAdapterLayers } from './new-adapter.ts';
import { ParameterTrainer } from './parameter-trainer.ts';
import { Trainer, type TrainerStart } from './trainer.ts';

/** @throws AdapterError, CheckpointError, TrainerStateError, ModelRequestError */
export async function trainAdapter(session: DecoderSession, checkpoint: Checkpoint, { adapter: start, optimizer, resume }: TrainerStart): Promise<Trainer> {
  if (start === undefined) throw new ModelRequestError('The model was loaded to train an adapter, but the request names none.');
  let adapter = typeof start === 'string' ? await readAdapter(start, checkpoint.config) : newAdapter(checkpoint, start);
  const parameters = await ParameterTrainer.begin(tensorsOf(adapter), optimizer, resume);
  return new Trainer(
    {
      gradientsOf: (batch) => session.train({ ...batch, adapter }),
      // The session caches the feeds of an adapter object. A step changes the numbers in place, so a new object invalidates the cache.
      changed: () => { adapter = { ...adapter }; },
      exportTo: (folder) => {
        const { rank, scaling, layers } = adapter;
        return writeAdapter(folder, { rank, alpha: scaling * rank, baseModel: basename(checkpoint.folder), layers });
      },
    },
    parameters,
  );
}

function newAdapter({ config, folder }: Checkpoint, start: NewAdapter): Adapter {
  const { rank, alpha, projections, seed } = start;
  const layers = newAdapterLayers(config, start);
  return { name: 'new', folder, rank, scaling: alpha / rank, targets: projections, layers, version: `new ${seed}` };
}
