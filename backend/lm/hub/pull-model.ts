import { readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { bytesIn } from '../../common/bytes-in.ts';
import { onDisk } from '../download/download-error.ts';
import { requireSpace } from '../download/free-space.ts';
import { ProgressMeter, type DownloadProgress } from '../download/progress-meter.ts';
import { download, DOWNLOAD_TOOLS, type DownloadTools } from '../download/resumable-download.ts';
import { fillWholeFolder } from '../download/whole-folder.ts';
import { HubClient, type HubFile } from './hub-client.ts';
import { HubError, toHubError } from './hub-error.ts';
import { neededFiles } from './needed-files.ts';
import { modelPlaces, readPulledModel, recordFile, type PulledModel, type PullRecord } from './pulled-models.ts';

export interface PullRequest {
  /** "owner/name" on the hub. */
  readonly repo: string;
  /** A branch, tag or commit; the default is `main`. */
  readonly revision?: string | undefined;
  /** The address of another hub or a mirror; by default that of the hub library. */
  readonly endpoint?: string | undefined;
  /** For models with restricted access; sent only to the endpoint. */
  readonly token?: string | undefined;
  /** The product's storage folder, which has models in `models/`. Absolute. */
  readonly storage: string;
  readonly signal: AbortSignal;
  /** Called with the total progress of all files; `file` is the current one. */
  readonly onProgress?: ((progress: DownloadProgress & { readonly file: string }) => void) | undefined;
  /** Called when this process waits because another process is downloading the same model. */
  readonly onWait?: (() => void) | undefined;
}

const COMMIT = /^[0-9a-f]{40}$/;
/** Fewer retries than for a partial download. */
const QUESTION_FAILURES = 3;
/** The hub's rule: letters, digits, `-`, `_`, `.`; no "--", no "..", no `-` or `.` at the start or the end. */
const NAME_PART = /^(?![-.])(?!.*(?:--|\.\.))[\w.-]{1,96}(?<![-.])$/;
const REVISION = /^(?![-./])(?!.*\.\.)[\w./-]{1,200}$/;

/**
 * Downloads the current commit of a model's revision. Its folder appears complete or not at all, and an interrupted download is resumed. For
 * a model that is already here, sends one request to the hub, or none if the revision is a commit.
 * @throws HubError; the signal's reason after it aborted
 */
export async function pullModel(request: PullRequest, tools: DownloadTools = DOWNLOAD_TOOLS): Promise<PulledModel> {
  const { repo, revision = 'main', storage, signal } = request;
  requireNames(request);
  signal.throwIfAborted();
  const places = modelPlaces(storage, repo);
  if (COMMIT.test(revision)) {
    const here = await readPulledModel(places.folder(revision));
    if (here) return here;
  }
  const retry = { ...tools.retry, failures: Math.min(QUESTION_FAILURES, tools.retry.failures) };
  const hub = new HubClient({ endpoint: request.endpoint, token: request.token, fetch: tools.fetch, retry, signal });
  try {
    const commit = await hub.commitOf(repo, revision);
    const folder = places.folder(commit);
    await fillWholeFolder({
      folder,
      staging: places.staging,
      lock: places.lock,
      isWhole: async () => (await readPulledModel(folder)) !== undefined,
      fill: () => fill({ request, tools, hub, commit, staging: places.staging }),
      signal,
      onWait: request.onWait,
    });
    const pulled = await readPulledModel(folder);
    if (!pulled) throw new HubError('disk', `${folder} was changed while the model was fetched; try again.`);
    return pulled;
  } catch (error) {
    signal.throwIfAborted();
    throw toHubError(error, { repo, revision, host: hub.host, hasToken: request.token !== undefined });
  }
}

interface Filling {
  readonly request: PullRequest;
  readonly tools: DownloadTools;
  readonly hub: HubClient;
  readonly commit: string;
  readonly staging: string;
}

/** Files are identified by checksum, so files left by an interrupted pull of an older commit are reused if they are the same. */
async function fill({ request, tools, hub, commit, staging }: Filling): Promise<void> {
  const { repo, signal, onProgress } = request;
  const files = neededFiles(await hub.listFiles(repo, commit));
  if (files.length === 0) {
    throw new HubError('no-model', `${repo} holds no config.json with *.safetensors: choose one with the original weights.`);
  }
  await onDisk(staging, () => removeOthers(staging, files));
  const totalBytes = files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  await requireSpace(staging, Math.max(0, totalBytes - (await bytesIn(staging))), repo, tools.freeBytes);
  let current = '';
  const meter = new ProgressMeter(totalBytes, (progress) => onProgress?.({ ...progress, file: current }));
  let doneBytes = 0;
  for (const { name, sizeBytes, checksum } of files) {
    current = name;
    await download({
      url: hub.fileUrl(repo, commit, name),
      secretHeaders: hub.secretHeaders,
      file: path.join(staging, name),
      sizeBytes,
      checksum,
      signal,
      onProgress: meter.fileAt(doneBytes),
    }, tools);
    doneBytes += sizeBytes;
  }
  const record: PullRecord = { version: 1, repo, commit, files: files.map(({ name, sizeBytes }) => ({ name, sizeBytes })) };
  await onDisk(staging, () => writeFile(recordFile(staging), `${JSON.stringify(record, undefined, 2)}\n`, { flush: true }));
}

function requireNames({ repo, revision, endpoint, token }: PullRequest): void {
  const parts = repo.split('/');
  if (parts.length > 2 || !parts.every((part) => NAME_PART.test(part)) || repo.endsWith('.git')) {
    throw new HubError('invalid-name', 'The model must have its name on the hub, owner/name, such as Qwen/Qwen3-0.6B.');
  }
  if (revision !== undefined && !REVISION.test(revision)) {
    throw new HubError('invalid-name', 'The revision must be a branch, a tag or a commit.');
  }
  if (endpoint !== undefined && !/^https?:\/\/[^\s/?#@]+(\/[^\s?#]*)?$/.test(endpoint)) {
    throw new HubError('invalid-name', 'The address of a hub begins with https:// and holds no account; the token is given apart.');
  }
  // The HTTP client would reject it with an error that contains the token.
  if (token !== undefined && !/^[\x21-\x7e]{1,500}$/.test(token)) {
    throw new HubError('unauthorized', 'The access token holds characters that no token has: copy it again.');
  }
}

async function removeOthers(staging: string, files: readonly HubFile[]): Promise<void> {
  const kept = new Set(files.flatMap(({ name }) => [name, `${name}.part`, `${name}.part.json`]));
  for (const name of await readdir(staging)) {
    if (!kept.has(name)) await rm(path.join(staging, name), { recursive: true, force: true });
  }
}
