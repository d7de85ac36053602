import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { gunzip } from 'node:zlib';
import { readAdapter } from '../../../lm/adapter/read-adapter.ts';
import { writeAdapter } from '../../../lm/adapter/write-adapter.ts';
import type { DecoderConfig } from '../../../lm/checkpoint/decoder-config.ts';
import type { TinkerClient } from './client.ts';
import type { Answer } from './http.ts';
import { RemoteError } from './remote-error.ts';
import { filesInTar } from './tar.ts';

/** An adapter of rank 128 of a model of 7B parameters in float32 takes 1.3 GB. */
const MOST_BYTES = 2 ** 31 - 1;
/** A large adapter over a slow line. */
const TIMEOUT_MS = 30 * 60_000;

const FILES = ['adapter_config.json', 'adapter_model.safetensors'] as const;

export interface HomeOrder {
  /** `tinker://…`, as `saveForSampler` returned it. */
  readonly samplerPath: string;
  /** The folder (absolute) to write, which must not exist. */
  readonly folder: string;
  readonly baseModel: string;
  /** The geometry of the model for which the adapter has to be. */
  readonly config: DecoderConfig;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Downloads an adapter and writes it as a PEFT folder. The server's own adapter_config.json leaves `target_modules` empty, and PEFT then loads
 * two projections of seven; so the adapter is read, checked against the model, and written anew.
 * @throws RemoteError, AdapterError and CheckpointError for an adapter that does not fit the model, file system errors
 */
export async function bringHome(client: TinkerClient, { samplerPath, folder, baseModel, config, signal }: HomeOrder): Promise<void> {
  const archive = await download(client, samplerPath, signal);
  const files = await promisify(gunzip)(archive, { maxOutputLength: MOST_BYTES }).then(filesInTar).catch((error: unknown) => {
    throw client.malformed('an archive that cannot be read', error);
  });
  const unpacked = await mkdtemp(path.join(tmpdir(), 'conductor-adapter-'));
  try {
    for (const name of FILES) {
      const bytes = files.get(name);
      if (!bytes) throw client.malformed(`an archive without ${name}`);
      await writeFile(path.join(unpacked, name), bytes);
    }
    const { rank, scaling, layers } = await readAdapter(unpacked, config);
    await writeAdapter(folder, { rank, alpha: scaling * rank, baseModel, layers });
  } finally {
    await rm(unpacked, { recursive: true, force: true });
  }
}

async function download(client: TinkerClient, samplerPath: string, signal?: AbortSignal): Promise<Uint8Array> {
  const [run = '', ...rest] = samplerPath.slice('tinker://'.length).split('/');
  const name = rest.at(-1) ?? '';
  // SkyRL has the first form, the SDK asks for the second.
  const places = [name, `sampler_weights/${name}`].map((place) => `training_runs/${run}/checkpoints/${place}/archive`);
  let found: Answer | undefined;
  for (const place of places) {
    found = await client.call(place, { method: 'GET', isRepeatable: true, signal, takes: [302, 303, 307, 404], timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES });
    if (found.status !== 404) break;
  }
  if (!found || found.status === 404) {
    throw new RemoteError('gone', `The training server ${client.http.server} has no archive of ${samplerPath}: go on from an earlier step, or ask whoever runs the server.`);
  }
  if (found.location === undefined) return found.bytes;
  const place = new URL(found.location, client.http.server);
  if (place.protocol !== 'https:' && place.origin !== new URL(client.http.server).origin) throw client.malformed('the address of an archive on another server without https');
  const { bytes } = await client.http.call({ method: 'GET', path: place.href, isRepeatable: true, signal, timeoutMs: TIMEOUT_MS, maxBytes: MOST_BYTES });
  return bytes;
}
