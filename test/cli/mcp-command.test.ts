import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { COMPILE_CACHE } from '../support/compile-cache.ts';
import { gif, png } from '../support/picture-bytes.ts';
import { ScriptedServer } from '../support/scripted-server.ts';
import { GitRepository } from '../verify/git-repository.ts';
import { trySandbox } from '../verify/setup.ts';
import { BUILT, conductorCommand } from './run-conductor.ts';

/* The official client of the protocol against the built command. */

const sandbox = await trySandbox();
const { places, run } = conductorCommand();

const WRONG = 'export const sum = (list) => list.reduce((a, b) => a + b);\n';
const RIGHT = 'export const sum = (list) => list.reduce((a, b) => a + b, 0);\n';
const PLAN = 'model_id = [0, 0]\nsubtasks = ["Find why sum([]) fails.", "Mend sum as found."]\naccess_list = [[], ["all"]]';

let server: ScriptedServer;
let project: GitRepository;
/** Where it is set, workers begin their answers and go on when it resolves. */
let held: Promise<void> | undefined;

beforeAll(async () => {
  server = await ScriptedServer.start(({ model }) => {
    if (model === 'planner') return PLAN;
    const answer = `\`\`\`js src/sum.js\n${RIGHT}\`\`\``;
    return held ? { begin: 'Well: ', rest: held.then(() => answer) } : answer;
  });
  project = new GitRepository(path.join(places.folder, 'project'), {
    'package.json': JSON.stringify({ type: 'module', scripts: { test: 'node --test' } }),
    'src/sum.js': WRONG,
    'test/sum.test.js': 'import assert from "node:assert/strict";\nimport test from "node:test";\nimport { sum } from "../src/sum.js";\n'
      + 'test("sums", () => assert.equal(sum([1, 2]), 3));\ntest("sums nothing", () => assert.equal(sum([]), 0));\n',
  });
  await mkdir(places.home, { recursive: true, mode: 0o700 });
  const worker = { provider: 'openai-compatible', baseUrl: server.baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 1, outputPerMillion: 1 } };
  await writeFile(path.join(places.home, 'workers.json'), JSON.stringify({
    version: 1, conductor: 'planner', workers: [{ ...worker, id: 'worker', model: 'worker' }, { ...worker, id: 'planner', model: 'planner', enabled: false, pictures: true }],
  }));
});

afterAll(async () => {
  await run(['backend', 'stop']);
  await server.close();
});

type Result = Awaited<ReturnType<Client['callTool']>>;
const textOf = ({ content }: Result): string => content.map((part) => (part.type === 'text' ? part.text : '')).join('\n');

/** A client of the newest revision of the protocol, or of the one before. */
async function connected(era: 'modern' | 'legacy' = 'modern', roots: readonly string[] = []): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' }, {
    versionNegotiation: { mode: era === 'modern' ? 'auto' : 'legacy' },
    ...(roots.length > 0 && { capabilities: { roots: {} } }),
  });
  if (roots.length > 0) client.setRequestHandler('roots/list', async () => ({ roots: roots.map((root) => ({ uri: `file://${root}` })) }));
  await client.connect(new StdioClientTransport({
    command: process.execPath, args: [BUILT, 'mcp', ...(roots.length > 0 ? ['--workspace', places.home] : [])], cwd: project.folder, stderr: 'pipe',
    env: { PATH: process.env['PATH'] ?? '', ...COMPILE_CACHE, HOME: places.folder, TMPDIR: places.folder, CONDUCTOR_HOME: places.home },
  }));
  return client;
}

describe('the MCP server', () => {
  it.each(['modern', 'legacy'] as const)('tells a %s client its tools, which of them cost money, and what they return', async (era) => {
    const client = await connected(era);
    try {
      expect(client.getProtocolEra()).toBe(era);
      const { tools } = await client.listTools();
      expect(Object.fromEntries(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint]))).toEqual({ verify: true, solve: false, plan: false, runs: true, run: true });
      for (const { outputSchema, inputSchema, description } of tools) expect([typeof outputSchema, inputSchema.type, typeof description]).toEqual(['object', 'object', 'string']);
    } finally {
      await client.close();
    }
  });

  it.skipIf(!sandbox.available)(`judges uncommitted changes and diffs ${sandbox.note}`, { timeout: 120_000 }, async () => {
    const client = await connected();
    try {
      const untouched = await client.callTool({ name: 'verify', arguments: {} });
      expect(textOf(untouched)).toContain('no uncommitted change');
      const stages: string[] = [];
      const diff = `--- a/src/sum.js\n+++ b/src/sum.js\n@@ -1 +1 @@\n-${WRONG}+${RIGHT}`;
      const verified = await client.callTool({ name: 'verify', arguments: { diff } }, { onprogress: ({ message = '' }) => stages.push(message) });
      expect(verified.structuredContent, textOf(verified)).toMatchObject({ outcome: 'verified', verified: true, failing: [], command: 'node --test' });
      expect(stages).toContain('reading the last commit');

      await writeFile(path.join(project.folder, 'src/sum.js'), 'export const sum = () => 0;\n');
      const failed = await client.callTool({ name: 'verify', arguments: {} });
      expect(failed.structuredContent).toMatchObject({ outcome: 'failed', failing: [{ id: expect.stringContaining('sums'), before: 'passed', after: 'failed', message: expect.stringContaining('3') }] });
      expect(textOf(failed)).toMatch(/^FAILED: [^]*sums: passed before, failed now\n {2}[^]*3/);
    } finally {
      await writeFile(path.join(project.folder, 'src/sum.js'), WRONG);
      await client.close();
    }
  });

  it.skipIf(!sandbox.available)(`solves, shows and lists runs, and tells of progress ${sandbox.note}`, { timeout: 120_000 }, async () => {
    const client = await connected();
    try {
      const lines: string[] = [];
      const solved = await client.callTool(
        { name: 'solve', arguments: { question: 'sum([]) fails instead of giving 0: please mend it', files: ['src/sum.js'] } },
        { onprogress: ({ message = '' }) => lines.push(message), timeout: 100_000 },
      );
      expect(solved.structuredContent, textOf(solved)).toMatchObject({ state: 'completed', outcome: 'verified', verified: true, edits: [{ path: 'src/sum.js' }], usd: expect.any(Number) });
      // Some clients show their model the fields alone.
      expect(solved.structuredContent).toMatchObject({ simulated: false, answer: expect.stringContaining(RIGHT.trim()), verdict: { outcome: 'verified', command: 'node --test', failing: [], remedy: null } });
      expect(textOf(solved)).toContain('+export const sum = (list) => list.reduce((a, b) => a + b, 0);');
      expect(lines.join('\n')).toMatch(/planned by planner[^]*step 2[^]*2 of 2 pass/);
      const { runId } = solved.structuredContent as { runId: string };
      expect((await client.callTool({ name: 'run', arguments: { runId } })).structuredContent).toEqual(solved.structuredContent);
      expect((await client.callTool({ name: 'runs', arguments: {} })).structuredContent).toMatchObject({ runs: [{ runId, outcome: 'verified' }] });
      expect(await client.callTool({ name: 'run', arguments: { runId: 'nowhere' } })).toMatchObject({ isError: true });
      const unjudged = await client.callTool(
        { name: 'solve', arguments: { question: 'sum([]) fails instead of giving 0: please mend it', tests: ['sum.test.js > of another day'], rounds: 1 } }, { timeout: 100_000 },
      );
      expect(unjudged.structuredContent, textOf(unjudged)).toMatchObject({ outcome: 'not-verified', edits: [{ path: 'src/sum.js' }] });
    } finally {
      await client.close();
    }
  });

  it.skipIf(!sandbox.available)(`plans without paying for the steps, and lets the plan run later ${sandbox.note}`, { timeout: 120_000 }, async () => {
    const client = await connected('legacy');
    try {
      const before = server.requests.length;
      const planned = await client.callTool({ name: 'plan', arguments: { question: 'sum([]) fails instead of giving 0: mend it, please' } }, { timeout: 60_000 });
      expect(planned.structuredContent, textOf(planned)).toMatchObject({ state: 'waiting', steps: [{ worker: 'worker', reads: [] }, { worker: 'worker', reads: [0] }] });
      expect(textOf(planned)).toContain('Expected cost: about $');
      expect(planned.structuredContent).toMatchObject({ expected: expect.stringMatching(/^Expected cost: about \$/) });
      expect(server.requests.slice(before).map(({ model }) => model)).toEqual(['planner']);
      const { runId } = planned.structuredContent as { runId: string };
      const solved = await client.callTool({ name: 'solve', arguments: { runId } }, { timeout: 100_000 });
      expect(solved.structuredContent, textOf(solved)).toMatchObject({ runId, outcome: 'verified' });
    } finally {
      await client.close();
    }
  });

  it('cancels the run of a call that is cancelled', { timeout: 60_000 }, async () => {
    const answering = Promise.withResolvers<void>();
    held = answering.promise;
    const client = await connected();
    try {
      const controller = new AbortController();
      const asked = server.requests.length;
      const call = client.callTool({ name: 'solve', arguments: { question: 'Please mend sum, it fails for []' } }, { signal: controller.signal, timeout: 50_000 });
      await vi.waitFor(() => expect(server.requests.slice(asked).map(({ model }) => model)).toContain('worker'), { timeout: 30_000 });
      controller.abort(new Error('enough'));
      await expect(call).rejects.toThrow();
      await vi.waitFor(async () => {
        const { structuredContent } = await client.callTool({ name: 'runs', arguments: { limit: 1 } });
        expect(structuredContent).toMatchObject({ runs: [{ state: 'cancelled' }] });
      }, { timeout: 20_000 });
    } finally {
      held = undefined;
      answering.resolve();
      await client.close();
    }
  });

  it('takes pictures of the project or in the call, shows them to who sees, and reads no other file', async () => {
    const client = await connected();
    await writeFile(path.join(project.folder, 'shot.png'), png(800, 600));
    const outside = path.join(places.folder, 'secret.png');
    await writeFile(outside, png(8, 8));
    await symlink(outside, path.join(project.folder, 'link.png'));
    try {
      const asking = { name: 'plan', arguments: { question: 'Why is the chart cut off?', pictures: ['shot.png', `data:image/gif;base64,${Buffer.from(gif(10, 20)).toString('base64')}`] } };
      expect(await client.callTool(asking)).not.toHaveProperty('isError', true);
      const shown = server.requests.at(-1)?.messages.flatMap(({ pictures = [] }) => pictures.map(({ data }) => Buffer.from(data, 'base64')));
      expect(shown).toEqual([Buffer.from(png(800, 600)), Buffer.from(gif(10, 20))]);

      const before = server.requests.length;
      const refusal = async (...pictures: string[]): Promise<string> => textOf(await client.callTool({ name: 'solve', arguments: { question: 'Why?', pictures } }));
      for (const file of [outside, 'link.png', '../secret.png']) expect(await refusal(file)).toContain('is outside the project');
      expect(await refusal('none.png')).toContain('there is no such file');
      expect(await refusal('src/sum.js')).toContain('Models do not take this kind of file');
      expect(await refusal('data:image/png;base64,aGVsbG8=')).toContain('Models do not take this kind of file');
      expect(server.requests).toHaveLength(before);
    } finally {
      await Promise.all([client.close(), ...['shot.png', 'link.png'].map((name) => rm(path.join(project.folder, name)))]);
    }
  });

  it('works in the folders of the client alone', async () => {
    const client = await connected('legacy', [project.folder]);
    try {
      expect(await client.callTool({ name: 'runs', arguments: {} })).not.toHaveProperty('isError', true);
      for (const workspace of [places.folder, '/', path.join(project.folder, '..')]) {
        const refused = await client.callTool({ name: 'runs', arguments: { workspace } });
        expect(refused).toMatchObject({ isError: true });
        expect(textOf(refused)).toContain('is outside the folders of this server');
      }
      expect(textOf(await client.callTool({ name: 'verify', arguments: { workspace: 'nowhere' } }))).toContain('There is no folder');
      expect(textOf(await client.callTool({ name: 'solve', arguments: {} }))).toContain('Give either a question or the id of a run.');
    } finally {
      await client.close();
    }
  });
});
