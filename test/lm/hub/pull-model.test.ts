import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { DownloadTools } from '../../../backend/lm/download/resumable-download.ts';
import { HubError } from '../../../backend/lm/hub/hub-error.ts';
import { pullModel, type PullRequest } from '../../../backend/lm/hub/pull-model.ts';
import { listPulledModels, modelPlaces } from '../../../backend/lm/hub/pulled-models.ts';
import { TestServer } from '../download/file-server.ts';
import { temporaryFolder } from '../download/temporary-folder.ts';
import { holds, noise, quickTools } from '../download/tools.ts';
import { FakeHub, type FakeFile, type Faults } from './fake-hub.ts';

const SHARD = noise(2_000_000);
const small = (name: string, text = `{"name":"${name}"}`): FakeFile => ({ name, content: Buffer.from(text) });
const WANTED: readonly FakeFile[] = [
  small('LICENSE', 'Apache'),
  small('chat_template.jinja', '{{ messages }}'),
  small('config.json'),
  small('generation_config.json'),
  { name: 'model-00001-of-00002.safetensors', content: SHARD, isLarge: true },
  { name: 'model-00002-of-00002.safetensors', content: noise(300_000, 4), isLarge: true },
  small('model.safetensors.index.json'),
  { name: 'tokenizer.json', content: noise(50_000, 6), isLarge: true },
  small('tokenizer_config.json'),
];
const UNWANTED: readonly FakeFile[] = [
  small('.gitattributes'), small('README.md'), small('pytorch_model.bin'), small('vocab.json'), small('model.gguf'),
  { name: 'consolidated.safetensors', content: noise(10), isLarge: true }, small('handler.py'),
];
const FILES = [...WANTED, ...UNWANTED].toSorted((a, b) => (a.name < b.name ? -1 : 1));
const COMMIT = '0123456789abcdef0123456789abcdef01234567';

async function setup(faults: Faults = {}, files: readonly FakeFile[] = FILES) {
  const hub = await FakeHub.start(files, faults);
  const storage = await temporaryFolder();
  const pull = (overrides: Partial<PullRequest> = {}, tools: Partial<DownloadTools> = {}) =>
    pullModel({ repo: hub.repo, endpoint: hub.url, storage, signal: new AbortController().signal, ...overrides }, { ...quickTools, ...tools });
  const folder = path.join(storage, 'models', 'acme--small-model', COMMIT);
  return { hub, storage, pull, folder, [Symbol.asyncDispose]: () => hub[Symbol.asyncDispose]() };
}

async function failure(work: Promise<unknown>): Promise<HubError> {
  const error: unknown = await work.then(() => undefined, (reason: unknown) => reason);
  if (error instanceof HubError) return error;
  throw error ?? new Error('It worked.');
}

/** Which ranges of the first shard were asked for. */
function rangesOf(hub: FakeHub): (string | undefined)[] {
  return hub.stored.filter(({ path: asked }) => asked.startsWith('/model-00001')).map(({ range }) => range);
}

const shard = 'storage:model-00001-of-00002.safetensors';

describe('pulling a model', () => {
  it('lands what a model is run from, and nothing else, in a folder named by the commit', async () => {
    await using it = await setup();
    const model = await it.pull();
    const sizeBytes = WANTED.reduce((sum, { content }) => sum + content.length, 0);
    expect(model).toEqual({ repo: it.hub.repo, commit: COMMIT, folder: it.folder, sizeBytes });
    expect((await readdir(it.folder)).toSorted()).toEqual(['.pulled.json', ...WANTED.map(({ name }) => name)].toSorted());
    for (const { name, content } of WANTED) expect(await holds(path.join(it.folder, name), content)).toBe(true);
    expect((await readdir(path.dirname(it.folder))).toSorted()).toEqual(['.lock', COMMIT]);
    expect(await listPulledModels(it.storage)).toEqual([model]);
  });

  it('reports progress over all files, from nothing to everything', async () => {
    await using it = await setup();
    const seen: { file: string; receivedBytes: number; totalBytes: number }[] = [];
    const { sizeBytes } = await it.pull({ onProgress: (progress) => seen.push(progress) });
    const received = seen.map(({ receivedBytes }) => receivedBytes);
    expect(received).toEqual(received.toSorted((a, b) => a - b));
    expect(seen.at(-1)).toMatchObject({ receivedBytes: sizeBytes, totalBytes: sizeBytes });
    expect(new Set(seen.map(({ file }) => file))).toContain('model-00001-of-00002.safetensors');
  });

  it('sends the token to the hub and not to its storage', async () => {
    await using it = await setup();
    it.hub.token = 'any-token';
    await it.pull({ token: 'any-token' });
    expect(new Set(it.hub.asked.map(({ authorization }) => authorization))).toEqual(new Set(['Bearer any-token']));
    expect(new Set(it.hub.stored.map(({ authorization }) => authorization))).toEqual(new Set([undefined]));
  });

  it('asks nobody for a commit that is here', async () => {
    await using it = await setup();
    const first = await it.pull();
    const asked = it.hub.asked.length;
    expect(await it.pull({ revision: COMMIT })).toEqual(first);
    expect(it.hub.asked).toHaveLength(asked);
  });

  it('asks once which commit a branch is, and fetches nothing that is here', async () => {
    await using it = await setup();
    await it.pull();
    const asked = it.hub.asked.length;
    await it.pull({ revision: 'main' });
    expect(it.hub.asked).toHaveLength(asked + 1);
  });

  it('fetches again what was lost or damaged of a model, and only that', async () => {
    await using it = await setup();
    const model = await it.pull();
    await rm(path.join(it.folder, 'config.json'));
    await truncate(path.join(it.folder, 'model-00002-of-00002.safetensors'), 7);
    expect(await listPulledModels(it.storage)).toEqual([]);
    const stored = it.hub.stored.length;
    expect(await it.pull({ revision: COMMIT })).toEqual(model);
    for (const { name, content } of WANTED) expect(await holds(path.join(it.folder, name), content)).toBe(true);
    expect(it.hub.stored.slice(stored).map(({ path: asked }) => asked.split('?')[0])).toEqual(['/model-00002-of-00002.safetensors']);
  });

  it('takes single-file repositories and those with other names for their weights', async () => {
    await using it = await setup({}, [small('config.json'), { name: 'weights.safetensors', content: noise(1_000), isLarge: true }]);
    await it.pull();
    expect(await readdir(it.folder)).toContain('weights.safetensors');
  });
});

describe('a pull that was cut', () => {
  it('is absent until it is complete, and then goes on with what is there', async () => {
    await using it = await setup({ [shard]: [{ cutAfterBytes: 1_500_000 }] });
    const error = await failure(it.pull({}, { retry: { ...quickTools.retry, failures: 1 } }));
    expect(error.kind).toBe('offline');
    expect(await readdir(path.dirname(it.folder))).not.toContain(COMMIT);
    const asked = it.hub.asked.length;
    await it.pull();
    expect(await holds(path.join(it.folder, 'model-00001-of-00002.safetensors'), SHARD)).toBe(true);
    expect(rangesOf(it.hub)).toEqual([undefined, expect.stringMatching(/^bytes=1[2345]\d{5}-$/)]);
    // What was complete before is not asked for again.
    expect(it.hub.asked.slice(asked).some(({ path: again }) => again.endsWith('/config.json'))).toBe(false);
  });

  it('uses what it has for the next commit, as far as that is the same', async () => {
    await using it = await setup({ [shard]: [{ silentAfterBytes: 1_000_000 }] });
    const controller = new AbortController();
    const stopped = new Error('stopped');
    await expect(it.pull({
      signal: controller.signal,
      onProgress: ({ file, receivedBytes }) => { if (file.startsWith('model-00001') && receivedBytes > 500_000) controller.abort(stopped); },
    })).rejects.toBe(stopped);
    const next = 'f'.repeat(40);
    it.hub.commit = next;
    it.hub.files = FILES.map((file) => (file.name === 'config.json' ? small('config.json', '{"changed":true}') : file));
    const model = await it.pull();
    expect(model.commit).toBe(next);
    expect(await readFile(path.join(model.folder, 'config.json'), 'utf8')).toBe('{"changed":true}');
    expect(await holds(path.join(model.folder, 'model-00001-of-00002.safetensors'), SHARD)).toBe(true);
    expect(rangesOf(it.hub)).toEqual([undefined, expect.stringMatching(/^bytes=\d{5,}-$/)]);
  });

  it('leaves behind no file that the model does not have', async () => {
    await using it = await setup();
    const { staging } = modelPlaces(it.storage, it.hub.repo);
    await mkdir(path.join(staging, 'folder'), { recursive: true });
    await writeFile(path.join(staging, 'model.py'), 'print()');
    await it.pull();
    expect(await readdir(it.folder)).not.toContain('model.py');
    expect(await readdir(it.folder)).not.toContain('folder');
  });

  it('is done once when two processes are asked for it at the same time', async () => {
    await using it = await setup();
    const script = fileURLToPath(new URL('pull-in-process.ts', import.meta.url));
    const processes = [1, 2, 3].map(async () => {
      const child = spawn(process.execPath, [script, it.hub.url, it.hub.repo, it.storage], { stdio: ['ignore', 'pipe', 'ignore'] });
      let output = '';
      child.stdout.setEncoding('utf8').on('data', (text: string) => { output += text; });
      await once(child, 'close');
      return JSON.parse(output) as { folder: string };
    });
    const folders = (await Promise.all(processes)).map(({ folder }) => folder);
    expect(folders).toEqual([it.folder, it.folder, it.folder]);
    expect(it.hub.stored.filter(({ path: asked }) => asked.startsWith('/model-00001'))).toHaveLength(1);
    for (const { name, content } of WANTED) expect(await holds(path.join(it.folder, name), content)).toBe(true);
  });

  it('of a process that was killed goes on at once in another', async () => {
    await using it = await setup({ [shard]: [{ silentAfterBytes: 1_000_000 }] });
    const script = fileURLToPath(new URL('pull-in-process.ts', import.meta.url));
    const child = spawn(process.execPath, [script, it.hub.url, it.hub.repo, it.storage], { stdio: ['ignore', 'ignore', 'pipe'] });
    for await (const text of child.stderr.setEncoding('utf8')) {
      if (String(text).includes('model-00001')) child.kill('SIGKILL');
    }
    await it.pull();
    expect(rangesOf(it.hub)).toEqual([undefined, expect.stringMatching(/^bytes=\d{4,}-$/)]);
    expect(await holds(path.join(it.folder, 'model-00001-of-00002.safetensors'), SHARD)).toBe(true);
  });

  it('is waited for by a second pull in the same process, which says so and can be stopped', async () => {
    await using it = await setup({ [shard]: [{ silentAfterBytes: 100_000 }] });
    const first = new AbortController();
    const begun = Promise.withResolvers<void>();
    const one = it.pull({ signal: first.signal, onProgress: ({ file }) => { if (file.startsWith('model-00001')) begun.resolve(); } });
    await begun.promise;
    const second = new AbortController();
    const waits = Promise.withResolvers<void>();
    const two = it.pull({ signal: second.signal, onWait: waits.resolve });
    await waits.promise;
    second.abort(new Error('no patience'));
    await expect(two).rejects.toThrow('no patience');
    first.abort(new Error('done'));
    await expect(one).rejects.toThrow('done');
    await it.pull();
    expect(await stat(it.folder)).toBeDefined();
  });
});

describe('a hub that says no', () => {
  const info = '/api/models/acme/small-model/revision/main';
  const config = `/acme/small-model/resolve/${COMMIT}/config.json`;

  it('about a gated model: the terms have to be accepted', async () => {
    await using it = await setup();
    it.hub.token = 'right';
    const error = await failure(it.pull());
    expect(error.kind).toBe('gated');
    expect(error.message).toMatch(/^acme\/small-model is open only to those who accept its terms .*give an access token\.$/);
  });

  it.each<[string, Faults, HubError['kind']]>([
    ['401 without a word', { [info]: [{ status: 401 }] }, 'unauthorized'],
    ['401 for a model that is not there', { [info]: [{ status: 401, headers: { 'x-error-code': 'RepoNotFound' } }] }, 'unauthorized'],
    ['403', { [info]: [{ status: 403 }] }, 'gated'],
    ['404', { [info]: [{ status: 404, headers: { 'x-error-code': 'RepoNotFound' } }] }, 'not-found'],
    ['404 for the revision', { [info]: [{ status: 404, headers: { 'x-error-code': 'RevisionNotFound' } }] }, 'no-revision'],
    ['500 again and again', { [info]: Array(3).fill({ status: 500 }) as { status: number }[] }, 'server'],
    ['429 for an hour', { [info]: [{ status: 429, headers: { 'retry-after': '3600' } }] }, 'rate-limit'],
    ['wrong bytes for a small file', { [config]: [{ content: Buffer.from('{"name":"config.JSON"}') }] }, 'checksum'],
    ['wrong bytes for a large file', { [shard]: [{ content: noise(SHARD.length, 8) }] }, 'checksum'],
    ['another size than listed', { [shard]: [{ content: SHARD.subarray(1) }] }, 'checksum'],
    ['403 from the storage', { [shard]: [{ status: 403 }] }, 'gated'],
  ])('with %s', async (_name, faults, kind) => {
    await using it = await setup(faults);
    const error = await failure(it.pull());
    expect(error.kind).toBe(kind);
    // One sentence of ours: nothing of what the server wrote into its body.
    expect(error.message).toMatch(/^[^\n<>]+[.]$/);
    expect(await listPulledModels(it.storage)).toEqual([]);
  });

  it('once and then yes is forgiven', async () => {
    await using it = await setup({ [info]: [{ status: 503 }], [shard]: [{ status: 500 }, { cutAfterBytes: 5 }] });
    await it.pull();
    expect(await listPulledModels(it.storage)).toHaveLength(1);
  });

  it('by not being there', async () => {
    await using it = await setup();
    const gone = await TestServer.start(() => undefined);
    const endpoint = gone.url;
    await gone.close();
    const error = await failure(it.pull({ endpoint }));
    expect(error.kind).toBe('offline');
    expect(error.message).toContain('check the connection');
  });

  it.each(['with space', 'line\nbreak', 'ümlaut', ''])('does not get a token that is none, and %j is not repeated', async (token) => {
    await using it = await setup();
    const error = await failure(it.pull({ token }));
    expect(error).toMatchObject({ kind: 'unauthorized', message: 'The access token holds characters that no token has: copy it again.' });
    expect(it.hub.asked).toEqual([]);
  });

  it('does not make the token known', async () => {
    await using it = await setup({ [info]: [{ status: 401 }] });
    const error = await failure(it.pull({ token: 'hf_verysecrettoken' }));
    expect(error.message).not.toContain('hf_verysecrettoken');
    expect(error.message).toContain('does not accept the access token');
  });
});

describe('what a hub may not do', () => {
  /** Answers the question for the commit rightly, and everything else as told. */
  async function strange(tree: unknown, headers: Record<string, string> = {}) {
    return TestServer.start(({ path: asked }, response) => {
      const body = asked.includes('/revision/') ? { id: 'a/b', sha: COMMIT, lastModified: '2026-01-01' } : tree;
      response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
    });
  }
  const pullFrom = async (server: TestServer, storage: string) =>
    failure(pullModel({ repo: 'a/b', endpoint: server.url, storage, token: 'secret', signal: new AbortController().signal }, quickTools));
  const entry = (name: string) => ({ type: 'file', path: name, size: 3, oid: 'a'.repeat(40) });

  it('lead out of the folder by the names of its files', async () => {
    await using server = await strange([entry('config.json'), entry('../../evil.safetensors'), entry('/etc/x.safetensors'), entry('..\\x.safetensors')]);
    expect((await pullFrom(server, await temporaryFolder())).kind).toBe('no-model');
  });

  it.each<[string, unknown]>([
    ['another shape', { not: 'a list' }], ['sizes below nothing', [{ ...entry('config.json'), size: -1 }]],
    ['a checksum that is none', [{ ...entry('config.json'), lfs: { oid: '../../..', size: 3, pointerSize: 1 } }]],
  ])('answer with %s', async (_name, tree) => {
    await using server = await strange(tree);
    expect((await pullFrom(server, await temporaryFolder())).kind).toBe('bad-answer');
  });

  it('send us, with the token, to another host for the next page', async () => {
    await using other = await TestServer.start((_request, response) => void response.end('[]'));
    await using server = await strange([entry('config.json')], { link: `<${other.url}/next>; rel="next"` });
    expect((await pullFrom(server, await temporaryFolder())).kind).toBe('bad-answer');
    expect(other.seen).toEqual([]);
  });

  it('list files without an end', async () => {
    await using server: TestServer = await TestServer.start(({ path: asked }, response) => {
      const page = Array.from({ length: 1_000 }, (_, index) => entry(`file-${index}.json`));
      response.writeHead(200, { 'content-type': 'application/json', link: `<${server.url}/api/next>; rel="next"` });
      response.end(JSON.stringify(asked.includes('/revision/') ? { id: 'a/b', sha: COMMIT, lastModified: '2026-01-01' } : page));
    });
    expect((await pullFrom(server, await temporaryFolder())).kind).toBe('bad-answer');
  });

  it('be a web page', async () => {
    await using server = await TestServer.start((_request, response) => void response.end('<html>Sign in to the network</html>'));
    expect((await pullFrom(server, await temporaryFolder())).kind).toBe('bad-answer');
  });
});

describe('names', () => {
  it.each(['', 'a/b/c', '../x', 'a/..', 'a--b/c', 'a/b.git', '-a/b', 'a b/c', 'https://hub/a/b', 'datasets/x/y', 'a/b?c', 'a\\b/c'])(
    '%j is none of a model', async (repo) => {
      await using it = await setup();
      expect((await failure(it.pull({ repo }))).kind).toBe('invalid-name');
      expect(it.hub.asked).toEqual([]);
    });

  it.each(['', '../main', '/main', 'a..b', 'a b', '-x'])('%j is none of a revision', async (revision) => {
    await using it = await setup();
    expect((await failure(it.pull({ revision }))).kind).toBe('invalid-name');
  });

  it.each(['hub.example', 'https://user:password@hub.example', 'file:///tmp', 'https://hub.example/?a=b'])('%j is no hub', async (endpoint) => {
    await using it = await setup();
    const error = await failure(it.pull({ endpoint }));
    expect(error.kind).toBe('invalid-name');
    expect(error.message).not.toContain('password');
  });
});

it('a disk without room for the whole model is seen before the first file', async () => {
  await using it = await setup();
  const error = await failure(it.pull({}, { freeBytes: () => Promise.resolve(65 * 1_048_576) }));
  expect(error.kind).toBe('disk-full');
  expect(it.hub.asked.some(({ path: asked }) => asked.includes('/resolve/'))).toBe(false);
});
