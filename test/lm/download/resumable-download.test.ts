import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { DownloadError } from '../../../backend/lm/download/download-error.ts';
import type { DownloadProgress } from '../../../backend/lm/download/progress-meter.ts';
import { download, type Download, type DownloadTools } from '../../../backend/lm/download/resumable-download.ts';
import { sendFile, TestServer, type Answer, type Fault, type Seen } from './file-server.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { holds, noise, quickTools, sha256 } from './tools.ts';

const CONTENT = noise(3_000_000);

/** One server, one file; faults are used up one request after another, then all goes well. */
async function setup(faults: readonly Fault[] = [], content = CONTENT) {
  const left = [...faults];
  const server = await TestServer.start((request, response) => sendFile(request, response, content, left.shift()));
  const folder = await temporaryFolder();
  const file = path.join(folder, 'model.safetensors');
  const get = (overrides: Partial<Download> = {}, tools: Partial<DownloadTools> = {}): Promise<void> =>
    download({
      url: `${server.url}/model.safetensors`, file, sizeBytes: content.length, checksum: sha256(content),
      signal: new AbortController().signal, ...overrides,
    }, { ...quickTools, ...tools });
  return { server, folder, file, get, [Symbol.asyncDispose]: () => server.close() };
}

/** Bytes that came just before a connection is cut are dropped by the HTTP client, up to a few of its buffers. */
const LOST_IN_A_CUT = 256 * 1_024;

/** The first byte that a request asks for. */
function startOf(request: Seen | undefined): number {
  return Number(/^bytes=(\d+)-$/.exec(request?.range ?? '')?.[1] ?? 0);
}

async function failure(work: Promise<unknown>): Promise<DownloadError> {
  const error: unknown = await work.then(() => undefined, (reason: unknown) => reason);
  if (error instanceof DownloadError) return error;
  throw error ?? new Error('It worked.');
}

describe('a download', () => {
  it('writes the bytes, reports them, and leaves nothing else behind', async () => {
    await using it = await setup();
    const reports: DownloadProgress[] = [];
    await it.get({ onProgress: (progress) => reports.push(progress) });
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(await readdir(it.folder)).toEqual(['model.safetensors']);
    expect(reports.at(-1)).toMatchObject({ receivedBytes: CONTENT.length, totalBytes: CONTENT.length });
    expect(reports.at(-1)?.bytesPerSecond).toBeGreaterThan(0);
  });

  it('goes on where the connection was cut, wherever that was', async () => {
    const cuts = [0, 1, 65_536, 700_001, 1_234_567, 3].map((cutAfterBytes) => ({ cutAfterBytes }));
    await using it = await setup(cuts);
    await it.get({}, { retry: { ...quickTools.retry, failures: 7 } });
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(it.server.seen).toHaveLength(7);
    const starts = it.server.seen.map(startOf);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(starts.at(-1)).toBeGreaterThan(2_000_000 - 4 * LOST_IN_A_CUT);
  });

  it('asks for the rest only, and for the rest of the same content', async () => {
    await using it = await setup([{ cutAfterBytes: 1_000_000, etag: '"one"' }, { etag: '"one"' }]);
    await it.get();
    expect(it.server.seen[1]?.ifRange).toBe('"one"');
    expect(startOf(it.server.seen[1])).toBeGreaterThan(1_000_000 - LOST_IN_A_CUT);
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('is as patient with a line that is cut often as with one that is cut once', async () => {
    await using it = await setup(Array<Fault>(7).fill({ cutAfterBytes: 1_500_000 }), noise(12_000_000));
    await it.get({}, { retry: { ...quickTools.retry, failures: 3 } });
    expect(it.server.seen.length).toBeGreaterThan(3);
  });

  it('gives up on a line that brings nothing, and says what to do', async () => {
    await using it = await setup(Array<Fault>(10).fill({ cutAfterBytes: 0 }));
    const error = await failure(it.get());
    expect(error.kind).toBe('network');
    expect(error.message).toMatch(/^model\.safetensors could not be fetched from 127\.0\.0\.1:\d+ .*try again; what was fetched is kept\.$/);
    expect(it.server.seen).toHaveLength(quickTools.retry.failures);
  });

  it('opens another connection when the first falls silent', async () => {
    await using it = await setup([{ silentAfterBytes: 500_000 }]);
    await it.get({}, { stallMs: 100 });
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(it.server.seen[1]?.range).toBe('bytes=500000-');
  });

  it('opens another connection when the server does not answer at all', async () => {
    let asked = 0;
    await using server = await TestServer.start((request, response) => {
      asked += 1;
      if (asked > 1) sendFile(request, response, CONTENT);
    });
    await using it = await setup();
    await it.get({ url: server.url }, { stallMs: 100 });
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('leaves a file that is right as it is, and asks nobody', async () => {
    await using it = await setup();
    await writeFile(it.file, CONTENT);
    await it.get();
    expect(it.server.seen).toEqual([]);
  });

  it('replaces a file of that name with another content', async () => {
    await using it = await setup();
    await writeFile(it.file, noise(CONTENT.length, 5));
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('fetches an empty file', async () => {
    await using it = await setup([], Buffer.alloc(0));
    await it.get();
    expect(await readFile(it.file)).toHaveLength(0);
  });
});

describe('a download that was stopped', () => {
  /** Stops after about a third. */
  async function stopped(it: Awaited<ReturnType<typeof setup>>, reason: unknown): Promise<void> {
    const controller = new AbortController();
    const stop = ({ receivedBytes }: DownloadProgress): void => { if (receivedBytes > 0) controller.abort(reason); };
    await expect(it.get({ signal: controller.signal, onProgress: stop })).rejects.toBe(reason);
  }

  it('throws the reason of the abort and keeps what came; the next one fetches the rest', async () => {
    await using it = await setup([{ silentAfterBytes: 1_000_000 }]);
    await stopped(it, new Error('enough'));
    const part = await readFile(`${it.file}.part`);
    expect(part.equals(CONTENT.subarray(0, part.length))).toBe(true);
    expect(part.length).toBeGreaterThan(0);
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(it.server.seen[1]?.range).toBe(`bytes=${part.length}-`);
    expect(await readdir(it.folder)).toEqual(['model.safetensors']);
  });

  it('begins again when the server has another version by its ETag, and takes the one that was announced', async () => {
    const old = noise(2_500_000, 9);
    await using it = await setup([{ cutAfterBytes: 600_000, content: Buffer.concat([old, Buffer.alloc(500_000)]), etag: '"old"' }]);
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(it.server.seen[1]?.ifRange).toBe('"old"');
  });

  it('begins again when a server continues another version without a word', async () => {
    const other = noise(CONTENT.length, 9);
    await using it = await setup([{ cutAfterBytes: 600_000, content: other, etag: null }, { etag: null }]);
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(it.server.seen.map((seen) => startOf(seen) > 0)).toEqual([false, true, false]);
  });

  it('begins again when the server ignores If-Range and names another ETag', async () => {
    await using it = await setup([
      { cutAfterBytes: 600_000, content: noise(CONTENT.length, 9), etag: 'W/"weak-old"' }, { etag: 'W/"weak-new"' },
    ]);
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(it.server.seen[1]?.ifRange).toBeUndefined();
  });

  it('begins again when the server sends everything instead of the rest', async () => {
    await using it = await setup([{ cutAfterBytes: 600_000 }, { ignoresRange: true }]);
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('does not go on with a part of another content', async () => {
    await using it = await setup([{ silentAfterBytes: 1_000_000 }]);
    await stopped(it, new Error('enough'));
    const next = noise(CONTENT.length, 7);
    await using other = await TestServer.start((request, response) => sendFile(request, response, next));
    await it.get({ url: other.url, checksum: sha256(next) });
    expect(await holds(it.file, next)).toBe(true);
    expect(other.seen[0]?.range).toBeUndefined();
  });

  it('fetches anew what a dying process left wrong on the disk', async () => {
    await using it = await setup([{ silentAfterBytes: 1_000_000 }]);
    await stopped(it, new Error('enough'));
    const { length } = await readFile(`${it.file}.part`);
    await writeFile(`${it.file}.part`, Buffer.alloc(length));
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('begins again when what is there is longer than the file', async () => {
    await using it = await setup();
    await writeFile(`${it.file}.part`, noise(CONTENT.length + 1));
    await writeFile(`${it.file}.part.json`, JSON.stringify({ checksum: sha256(CONTENT).hex }));
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('gives a name to a part that was complete, and asks nobody', async () => {
    await using it = await setup();
    await writeFile(`${it.file}.part`, CONTENT);
    await writeFile(`${it.file}.part.json`, JSON.stringify({ checksum: sha256(CONTENT).hex }));
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(it.server.seen).toEqual([]);
  });

  it('does not write through a link that lies in the place of the part', async () => {
    await using it = await setup();
    const elsewhere = path.join(await temporaryFolder(), 'precious');
    await writeFile(elsewhere, 'precious');
    await symlink(elsewhere, `${it.file}.part`);
    await writeFile(`${it.file}.part.json`, JSON.stringify({ checksum: sha256(CONTENT).hex }));
    await it.get();
    expect(await readFile(elsewhere, 'utf8')).toBe('precious');
    expect(await holds(it.file, CONTENT)).toBe(true);
  });
});

describe('a server that is wrong', () => {
  it('does not get a file with wrong bytes to its name', async () => {
    await using it = await setup([{ content: noise(CONTENT.length, 3) }]);
    const error = await failure(it.get());
    expect(error.kind).toBe('checksum');
    expect(await readdir(it.folder)).not.toContain('model.safetensors');
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it.each<[string, Fault]>([
    ['announces more', { claimsBytes: CONTENT.length + 1 }],
    ['announces less', { content: CONTENT.subarray(0, 1_000) }],
    ['sends more without announcing it', { content: noise(CONTENT.length + 10), claimsBytes: null }],
  ])('is refused when it %s', async (_name, fault) => {
    await using it = await setup(Array<Fault>(10).fill(fault));
    expect((await failure(it.get())).kind).toBe('wrong-size');
    expect(await readdir(it.folder)).not.toContain('model.safetensors');
  });

  it.each([429, 500, 502, 503])('is asked again after a %d', async (status) => {
    await using it = await setup([{ status }, { status, headers: { 'retry-after': '0' } }]);
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('is not waited for longer than is bearable', async () => {
    await using it = await setup([{ status: 429, headers: { 'retry-after': '86400' } }]);
    expect((await failure(it.get())).kind).toBe('rate-limit');
    expect(it.server.seen).toHaveLength(1);
  });

  it.each([[401, 'unauthorized'], [403, 'forbidden'], [404, 'not-found'], [410, 'not-found'], [451, 'server']] as const)(
    'that answers %d is asked once, and the error is "%s"', async (status, kind) => {
      await using it = await setup(Array<Fault>(10).fill({ status }));
      const error = await failure(it.get());
      expect(error).toMatchObject({ kind, status });
      expect(error.message).toMatch(/^[^\n]+\.$/);
      expect(it.server.seen).toHaveLength(1);
    });

  it('may forget a range: the file is then fetched from its beginning', async () => {
    await using it = await setup([{ cutAfterBytes: 600_000 }, { status: 416 }]);
    await it.get();
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('may not compress what is counted in bytes', async () => {
    await using it = await setup(Array<Fault>(10).fill({ headers: { 'content-encoding': 'br' } }));
    expect((await failure(it.get())).kind).toBe('server');
  });
});

describe('redirects', () => {
  const redirectTo = (target: () => string): Answer => (_request, response) => void response.writeHead(302, { location: target() }).end();

  it('are followed, without the token once they lead to another host', async () => {
    await using it = await setup();
    await using hub = await TestServer.start(redirectTo(() => `${it.server.url}/signed?key=1`));
    await it.get({ url: `${hub.url}/resolve`, secretHeaders: { authorization: 'Bearer secret' } });
    expect(await holds(it.file, CONTENT)).toBe(true);
    expect(hub.seen[0]?.authorization).toBe('Bearer secret');
    expect(it.server.seen[0]?.authorization).toBeUndefined();
  });

  it('end after a few', async () => {
    await using hub: TestServer = await TestServer.start(redirectTo(() => `${hub.url}/again`));
    await using it = await setup();
    expect((await failure(it.get({ url: hub.url }))).kind).toBe('refused-address');
    expect(hub.seen).toHaveLength(6);
  });

  it.each(['http://example.org/model', 'file:///etc/passwd', 'ftp://127.0.0.1/x', '//user:password@127.0.0.1/x', ''])(
    'to %j are not followed', async (target) => {
      await using hub = await TestServer.start(redirectTo(() => target));
      await using it = await setup();
      expect((await failure(it.get({ url: hub.url }))).kind).toBe('refused-address');
    });

  it('from a host on the network to this machine are not followed', async () => {
    await using it = await setup();
    const fetch = (): Promise<Response> => Promise.resolve(new Response(null, { status: 302, headers: { location: it.server.url } }));
    expect((await failure(it.get({ url: 'https://hub.example/model' }, { fetch }))).kind).toBe('refused-address');
  });

  it('are not needed to refuse an address that is not https', async () => {
    await using it = await setup();
    expect((await failure(it.get({ url: 'http://hub.example/model' }))).kind).toBe('refused-address');
  });
});

describe('what an error says', () => {
  it('holds neither the token, nor the account, nor the signature of the address', async () => {
    const server = await TestServer.start(() => undefined);
    const port = new URL(server.url).port;
    await server.close();
    await using it = await setup();
    const url = `http://anna:hunter2@127.0.0.1:${port}/file?signature=s3cret`;
    const error = await failure(it.get({ url, secretHeaders: { authorization: 'Bearer t0ken' } }));
    expect(error.message).toContain('ECONNREFUSED');
    expect(error.message).not.toMatch(/anna|hunter2|s3cret|t0ken/);
  });

  it('sends the account of an address as a header, and to that host only', async () => {
    await using it = await setup();
    await using hub = await TestServer.start((_request, response) => void response.writeHead(307, { location: `${it.server.url}/x` }).end());
    await it.get({ url: hub.url.replace('//', '//anna:hunter%202@') });
    expect(hub.seen[0]?.authorization).toBe(`Basic ${Buffer.from('anna:hunter 2').toString('base64')}`);
    expect(it.server.seen[0]?.authorization).toBeUndefined();
  });
});

describe('a disk', () => {
  it('without enough room is seen before anything is fetched', async () => {
    await using it = await setup();
    const error = await failure(it.get({}, { freeBytes: () => Promise.resolve(1_000_000) }));
    expect(error.kind).toBe('disk-full');
    expect(error.message).toBe(`Too little room for model.safetensors: 3 MB are needed in ${it.folder}, which has 1 MB free.`);
    expect(it.server.seen).toEqual([]);
  });

  it('needs room for the rest only', async () => {
    await using it = await setup([{ cutAfterBytes: 2_000_000 }]);
    await failure(it.get({}, { retry: { ...quickTools.retry, failures: 1 } }));
    await it.get({}, { freeBytes: () => Promise.resolve(1_100_000 + 64 * 1_048_576) });
    expect(await holds(it.file, CONTENT)).toBe(true);
  });

  it('that may not be written is named', async () => {
    await using it = await setup();
    await writeFile(path.join(it.folder, 'taken'), '');
    const error = await failure(it.get({ file: path.join(it.folder, 'taken', 'file') }));
    expect(error.kind).toBe('disk');
  });

  const canMount = spawnSync('unshare', ['-rm', 'sh', '-c', 'mount -t tmpfs none /mnt']).status === 0;

  /** In a file system of 1 MiB, which Linux lets a process have for itself. */
  it.runIf(canMount)('that runs full in the middle is said so, and the rest comes once there is room', async () => {
    await using it = await setup();
    const small = path.join(it.folder, 'small');
    await mkdir(small);
    const script = fileURLToPath(new URL('download-to-small-disk.ts', import.meta.url));
    const args = [script, it.server.url, path.join(small, 'file'), String(CONTENT.length), sha256(CONTENT).hex];
    const mounted = 'mount -t tmpfs -o size=1m none "$0" && exec "$@"';
    const child = spawn('unshare', ['-rm', 'sh', '-c', mounted, small, process.execPath, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => { output += text; });
    await once(child, 'close');
    expect(JSON.parse(output)).toEqual({
      full: { kind: 'disk-full', message: expect.stringContaining('is full: make room, then try again') as string },
      keptBytes: expect.any(Number) as number,
      afterMakingRoom: true,
    });
    expect((JSON.parse(output) as { keptBytes: number }).keptBytes).toBeGreaterThan(500_000);
  });
});
