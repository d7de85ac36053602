import { mkdir, readdir, readFile, rm, truncate } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { CUDA_WHEELS, ONNXRUNTIME_VERSION, type CudaWheel } from '../../../backend/lm/device/cuda-files.ts';
import {
  cudaEnvironment, fetchCudaLibraries, findCudaLibraries, type CudaConsent, type CudaRequest, type CudaTools,
} from '../../../backend/lm/device/cuda-libraries.ts';
import { DeviceError } from '../../../backend/lm/device/device-error.ts';
import packageJson from '../../../package.json' with { type: 'json' };
import { sendFile, TestServer, type Fault } from '../download/file-server.ts';
import { temporaryFolder } from '../download/temporary-folder.ts';
import { holds, noise, quickTools, sha256 } from '../download/tools.ts';
import { zipOf } from './zip-file.ts';

const MEMBERS = [
  { project: 'runtime-gpu', name: 'onnx/libprovider.so', file: 'libprovider.so', content: noise(400_000) },
  { project: 'runtime-gpu', name: 'onnx/libort.so.1.2', file: 'libort.so.1', content: noise(30_000, 2) },
  { project: 'blas', name: 'nvidia/lib/libblas.so.13', file: 'libblas.so.13', content: noise(600_000, 3) },
];
const ARCHIVES = new Map(['blas', 'runtime-gpu'].map((project) => {
  const inside = MEMBERS.filter((member) => member.project === project);
  return [project, zipOf([...inside, { name: '../../escape.so', content: noise(10) }, { name: 'LICENSE', content: noise(99) }])];
}));
const WHEELS: readonly CudaWheel[] = [...ARCHIVES].map(([project, archive]) => ({
  project,
  fileName: `${project.replace('-', '_')}-1.2-py3-none-any.whl`,
  sizeBytes: archive.length,
  sha256: sha256(archive).hex,
  members: MEMBERS.filter((member) => member.project === project)
    .map(({ name, file, content }) => ({ name, file, sizeBytes: content.length })),
}));

/** A project's page: another version, and the wheel that is wanted. */
function listing(project: string, url: string, hex?: string): unknown {
  const fileName = WHEELS.find((wheel) => wheel.project === project)?.fileName;
  const other = { filename: `${project}-9.9-py3-none-any.whl`, url: '../../files/none', hashes: {} };
  const wanted = { filename: fileName, url, hashes: hex === undefined ? {} : { sha256: hex } };
  return { meta: { 'api-version': '1.1' }, name: project, files: [other, wanted] };
}

interface Setup {
  /** By project, for the wheel itself. */
  readonly faults?: Readonly<Record<string, Fault[]>>;
  /** What the index says of a project instead of the truth. */
  readonly page?: (project: string) => { body: unknown; type?: string; status?: number } | undefined;
  readonly account?: string;
}

async function setup({ faults = {}, page, account }: Setup = {}) {
  const server = await TestServer.start((request, response) => {
    const expected = account === undefined ? undefined : `Basic ${Buffer.from(account).toString('base64')}`;
    if (request.authorization !== expected) return void response.writeHead(401).end();
    const [, kind = '', project = ''] = new URL(request.path, 'http://x').pathname.split('/');
    const wheel = WHEELS.find((candidate) => candidate.project === project);
    const archive = ARCHIVES.get(project);
    if (!wheel || !archive) return void response.writeHead(404).end();
    if (kind === 'files') return sendFile(request, response, archive, faults[project]?.shift());
    const answer = page?.(project) ?? { body: listing(project, `../../files/${project}/x.whl`, wheel.sha256) };
    response.writeHead(answer.status ?? 200, { 'content-type': answer.type ?? 'application/vnd.pypi.simple.v1+json' });
    response.end(JSON.stringify(answer.body));
  });
  const storage = await temporaryFolder();
  const asked: CudaConsent[] = [];
  const notices: string[] = [];
  const tools: CudaTools = { ...quickTools, wheels: WHEELS, version: '1.2' };
  const fetchAll = (overrides: Partial<CudaRequest> = {}, own: Partial<CudaTools> = {}): Promise<string> =>
    fetchCudaLibraries({
      storage, index: `${server.url}/simple`, signal: new AbortController().signal,
      confirm: (consent) => { asked.push(consent); return Promise.resolve(true); },
      onNotice: (sentence) => notices.push(sentence), ...overrides,
    }, { ...tools, ...own });
  const find = (own: Partial<CudaTools> = {}) => findCudaLibraries(storage, { ...tools, ...own });
  const folder = path.join(storage, 'cuda', '1.2');
  return { server, storage, asked, notices, fetchAll, find, folder, [Symbol.asyncDispose]: () => server.close() };
}

async function failure(work: Promise<unknown>): Promise<DeviceError> {
  const error: unknown = await work.then(() => undefined, (reason: unknown) => reason);
  if (error instanceof DeviceError) return error;
  throw error ?? new Error('It worked.');
}

describe('the CUDA libraries', () => {
  it('are asked for once, fetched, and only what is needed is unpacked', async () => {
    await using it = await setup();
    const received: number[] = [];
    expect(await it.find()).toBeUndefined();
    expect(await it.fetchAll({ onProgress: ({ receivedBytes }) => received.push(receivedBytes) })).toBe(it.folder);
    expect(await it.find()).toBe(it.folder);
    expect((await readdir(it.folder)).toSorted()).toEqual(MEMBERS.map(({ file }) => file).toSorted());
    for (const { file, content } of MEMBERS) expect(await holds(path.join(it.folder, file), content)).toBe(true);
    expect(await readdir(it.storage)).toEqual(['cuda']);
    expect((await readdir(path.dirname(it.folder))).toSorted()).toEqual(['1.2', '1.2.lock']);
    expect(received.at(-1)).toBe(WHEELS.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0));
    expect(it.asked).toHaveLength(1);
    const licences = 'onnxruntime: MIT; cuBLAS, cuRAND, CUDA runtime: NVIDIA\'s licence';
    expect(it.asked[0]?.question).toBe(`Download 1 MB from ${it.asked[0]?.host ?? ''} (${licences})?`);
    expect(it.asked[0]?.diskBytes).toBeGreaterThan(MEMBERS.reduce((sum, { content }) => sum + content.length, 0));
  });

  it('that are here are neither asked for nor fetched', async () => {
    await using it = await setup();
    await it.fetchAll();
    const requests = it.server.seen.length;
    await it.fetchAll({ index: undefined });
    expect(it.asked).toHaveLength(1);
    expect(it.server.seen).toHaveLength(requests);
  });

  it('of another version are not used', async () => {
    await using it = await setup();
    await it.fetchAll();
    expect(await it.find({ version: '1.3' })).toBeUndefined();
  });

  it('are not fetched against the user\'s will', async () => {
    await using it = await setup();
    const error = await failure(it.fetchAll({ confirm: () => Promise.resolve(false) }));
    expect(error).toMatchObject({ kind: 'declined', message: 'The CUDA libraries were not downloaded; the model runs on the CPU.' });
    expect(it.server.seen).toEqual([]);
    expect(await it.find()).toBeUndefined();
  });

  it('are not fetched from nowhere', async () => {
    await using it = await setup();
    const error = await failure(it.fetchAll({ index: undefined }));
    expect(error).toMatchObject({
      kind: 'no-index', message: 'The CUDA libraries (1 MB) are not here; name a package index to fetch them from, or stay on the CPU.',
    });
    expect(it.asked).toEqual([]);
  });

  it('need room on the disk before anybody is asked', async () => {
    await using it = await setup();
    const error = await failure(it.fetchAll({}, { freeBytes: () => Promise.resolve(1_000) }));
    expect(error.kind).toBe('disk-full');
    expect(error.message).toMatch(/^Too little room for the CUDA libraries: \d MB are needed in \S+, which has 1 kB free\.$/);
    expect(it.asked).toEqual([]);
  });

  it('are absent until all are there, and the next try fetches what is missing', async () => {
    await using it = await setup({ faults: { 'runtime-gpu': [{ cutAfterBytes: 300_000 }] } });
    const error = await failure(it.fetchAll({}, { retry: { ...quickTools.retry, failures: 1 } }));
    expect(error.kind).toBe('download');
    expect(await it.find()).toBeUndefined();
    const blas = it.server.seen.filter(({ path: asked }) => asked.startsWith('/files/blas')).length;
    await it.fetchAll();
    expect(await it.find()).toBe(it.folder);
    expect(it.server.seen.filter(({ path: asked }) => asked.startsWith('/files/blas'))).toHaveLength(blas);
    expect(it.server.seen.at(-1)?.range).toMatch(/^bytes=\d{4,}-$/);
    expect(it.asked[1]?.downloadBytes).toBe(WHEELS[1]?.sizeBytes);
  });

  it('go on after an abort', async () => {
    await using it = await setup({ faults: { blas: [{ silentAfterBytes: 200_000 }] } });
    const controller = new AbortController();
    const stopped = new Error('stopped');
    const onProgress = ({ receivedBytes }: { receivedBytes: number }): void => { if (receivedBytes > 0) controller.abort(stopped); };
    await expect(it.fetchAll({ signal: controller.signal, onProgress })).rejects.toBe(stopped);
    await it.fetchAll();
    for (const { file, content } of MEMBERS) expect(await holds(path.join(it.folder, file), content)).toBe(true);
  });

  it.each(['is cut', 'is gone'])('of which one %s are noticed at the next start, and only its wheel is fetched again', async (what) => {
    await using it = await setup();
    await it.fetchAll();
    const file = path.join(it.folder, 'libblas.so.13');
    await (what === 'is cut' ? truncate(file, 5) : rm(file));
    expect(await it.find()).toBeUndefined();
    const requests = it.server.seen.length;
    await it.fetchAll();
    expect(it.notices).toEqual(['A CUDA library is missing or damaged; it is fetched again.']);
    expect(it.server.seen.slice(requests).map(({ path: asked }) => asked)).toEqual(['/simple/blas/', '/files/blas/x.whl']);
    for (const { file: name, content } of MEMBERS) expect(await holds(path.join(it.folder, name), content)).toBe(true);
  });

  it('do not keep what a stranger put beside them', async () => {
    await using it = await setup();
    await mkdir(`${it.folder}.part/deep`, { recursive: true });
    await it.fetchAll();
    expect(await readdir(it.folder)).not.toContain('deep');
  });

  it('are fetched once by two at the same time', async () => {
    await using it = await setup();
    await Promise.all([it.fetchAll(), it.fetchAll()]);
    expect(it.asked).toHaveLength(1);
    expect(it.server.seen.filter(({ path: asked }) => asked.startsWith('/files/'))).toHaveLength(2);
  });
});

describe('a package index', () => {
  it('behind an account is asked with it, and errors do not name it', async () => {
    await using it = await setup({ account: 'anna:hunter2' });
    const index = `${it.server.url}/simple/`.replace('//', '//anna:hunter2@');
    await it.fetchAll({ index });
    expect(await it.find()).toBe(it.folder);
    expect(it.asked[0]?.question).not.toMatch(/anna|hunter2/);
    const wrong = await failure(it.fetchAll({ index: index.replace('hunter2', 'hunter3') }, { version: '1.3' }));
    expect(wrong.kind).toBe('download');
    expect(wrong.message).not.toMatch(/anna|hunter/);
  });

  it.each<[string, Setup]>([
    ['does not have the file', { page: () => ({ body: { files: [] } }) }],
    ['has another file of that name', { page: (project) => ({ body: listing(project, 'x', 'a'.repeat(64)) }) }],
    ['speaks only HTML', { page: () => ({ body: '<a>', type: 'text/html' }) }],
    ['answers something else', { page: () => ({ body: { packages: 1 } }) }],
    ['is not there', { page: () => ({ body: {}, status: 404 }) }],
    ['points to an address that is not https', { page: (project) => ({ body: listing(project, 'http://files.example/x') }) }],
    ['sends other bytes', { faults: { blas: [{ content: noise(WHEELS[0]?.sizeBytes ?? 0) }] } }],
  ])('that %s is said in one sentence', async (_name, options) => {
    await using it = await setup(options);
    const error = await failure(it.fetchAll());
    expect(error.kind).toBe('download');
    expect(error.message).toMatch(/^[^\n<>]+\.$/);
    expect(await it.find()).toBeUndefined();
  });
});

describe('the table of CUDA files', () => {
  it('is of the version of onnxruntime that is installed', () => {
    expect(packageJson.dependencies['onnxruntime-node']).toBe(ONNXRUNTIME_VERSION);
  });

  it('is what docs/gpu.md says', async () => {
    const page = await readFile(new URL('../../../docs/gpu.md', import.meta.url), 'utf8');
    for (const { sha256: hex } of CUDA_WHEELS) expect(page).toContain(hex);
    const total = CUDA_WHEELS.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    const unpacked = CUDA_WHEELS.flatMap(({ members }) => members).reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    // The page rounds each row before it adds.
    expect(Math.abs(total / 1e6 - 729.4)).toBeLessThan(0.2);
    expect(Math.abs(unpacked / 1e6 - 1_028.5)).toBeLessThan(0.2);
    expect(CUDA_WHEELS.flatMap(({ members }) => members)).toHaveLength(7);
  });
});

describe('the environment of the model\'s process', () => {
  it('finds our libraries first, sees the measured GPU only, and reports nothing to anybody', () => {
    const env = cudaEnvironment('/store/cuda/1.30.0', { uuid: 'GPU-1' }, { HOME: '/home/anna', LD_LIBRARY_PATH: '/opt/lib' });
    expect(env).toEqual({
      HOME: '/home/anna', LD_LIBRARY_PATH: '/store/cuda/1.30.0:/opt/lib', CUDA_VISIBLE_DEVICES: 'GPU-1', ORT_DISABLE_TELEMETRY: '1',
    });
    // An empty entry would mean the working folder.
    expect(cudaEnvironment('/a', { uuid: 'GPU-1' }, { LD_LIBRARY_PATH: '' }).LD_LIBRARY_PATH).toBe('/a');
  });
});
