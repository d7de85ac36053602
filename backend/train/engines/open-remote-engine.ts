import { readGeometry } from '../../lm/checkpoint/open-checkpoint.ts';
import { openTokenizer } from '../../lm/tokenizer/tokenizer.ts';
import { counted } from '../../common/counted.ts';
import type { EngineParts, EngineStart, OpenedEngine } from './engine-start.ts';
import { TinkerClient } from './remote/client.ts';
import { RemoteEngine } from './remote/remote-engine.ts';
import { RemoteError } from './remote/remote-error.ts';
import { readRemoteState } from './remote/remote-state.ts';

/** As of a model that runs here (`ModelSettings`). */
const CONTEXT_LENGTH = 32_768;
/** Names of models in a sentence. */
const NAMED = 10;

/**
 * Trains an adapter of the Conductor's model on a server with Tinker's API. The model's folder on this machine has the tokenizer and the
 * geometry; its weights are not loaded.
 */
export async function openRemoteEngine(
  { modelFolder }: EngineParts, { config, conductor, versions, from, samplesOnly = false, keys, pay, signal }: EngineStart,
): Promise<OpenedEngine> {
  const { engine: settings, adapter: { rank }, seed, team } = config;
  if (settings === 'local') throw new TypeError('This engine is not the one of the configuration.');
  const { url, key, price, model: baseModel = conductor.model } = settings;
  const folder = await modelFolder(conductor);
  const [tokenizer, geometry] = [await openTokenizer(folder), await readGeometry(folder)];
  const client = new TinkerClient({ url, ...(key !== undefined && { key: (either) => keys.get(key, either) }) });
  const engine = new RemoteEngine({
    client, tokenizer, versions,
    model: { baseModel, rank, seed },
    config: geometry,
    contextLength: Math.min(geometry.maximumPositions, CONTEXT_LENGTH),
    ...(price && pay && { account: { price, pay } }),
    samplesOnly,
    ...(team && 'oldest' in team && { versionsKept: 1 + team.oldest }),
    ...(from && { from: await readRemoteState(from.engineState) }),
  });
  try {
    // The server itself does not compare the name: it would train another model.
    const models = await client.models(signal);
    if (!models.includes(baseModel)) throw otherModel(client.http.server, baseModel, models);
    if (!samplesOnly) await engine.begin(signal);
  } catch (error) {
    if (key !== undefined && error instanceof RemoteError && error.kind === 'key') keys.forget(key);
    await engine.close();
    throw error;
  }
  return { engine, shared: engine, close: () => engine.close() };
}

function otherModel(server: string, wanted: string, models: readonly string[]): RemoteError {
  const named = models.slice(0, NAMED).map((name) => `"${name}"`).join(', ');
  const more = models.length > NAMED ? ` and ${counted(models.length - NAMED, 'other')}` : '';
  return new RemoteError('refused', `The training server ${server} does not have the model "${wanted}", but ${named || 'none'}${more}: name the same model as the server does in "engine.model", or start the server with it.`);
}
