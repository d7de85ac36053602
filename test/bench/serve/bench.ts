import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { fileURLToPath } from 'node:url';
import { ScriptedServer } from '../../support/scripted-server.ts';

/*
 * What a request without a plan takes longer through `conductor serve` and through LiteLLM's proxy than without either, with one simulated server behind all three.
 * See README.md beside this file.
 */

const { values } = parseArgs({ options: { litellm: { type: 'string' }, before: { type: 'string' }, requests: { type: 'string', default: '60' } } });
if (values.litellm === undefined) throw new Error('Name LiteLLM\'s command: --litellm VENV/bin/litellm.');
const REQUESTS = Number(values.requests);
const WARM_UP = 10;
const ANSWER = 'The bound is off by one, so the last row is never read. '.repeat(20);
const QUESTION = 'Why is the last row never read?\n'.repeat(50);
const CLI = fileURLToPath(new URL('../../../run-cli.mjs', import.meta.url));
const TICKS_PER_SECOND = 100;

interface Way {
  readonly name: string;
  readonly url: string;
  readonly key: string;
  /** Its processes. */
  readonly pids: readonly number[];
}
interface Taken {
  readonly firstMs: number;
  readonly totalMs: number;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

async function ask({ url, key }: Way, question: string): Promise<Taken> {
  const began = performance.now();
  const response = await fetch(`${url}/chat/completions`, {
    method: 'POST', headers: { 'authorization': `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'first', messages: [{ role: 'user', content: question }], stream: true, max_tokens: 500 }),
  });
  if (!response.ok || !response.body) throw new Error(`${url} answered ${response.status}: ${await response.text()}`);
  const decoder = new TextDecoder();
  let read = '';
  let firstMs = 0;
  for await (const piece of response.body) {
    read += decoder.decode(piece, { stream: true });
    if (firstMs === 0 && /"content": ?"[^"]/.test(read)) firstMs = performance.now() - began;
  }
  const totalMs = performance.now() - began;
  const text = [...read.matchAll(/^data: (\{.*\})$/gm)].map(([, json]) => (JSON.parse(json!) as { choices?: { delta?: { content?: string } }[] }).choices?.[0]?.delta?.content ?? '').join('');
  if (text.trim() !== ANSWER.trim()) throw new Error(`${url} gave another answer: ${text.slice(0, 200)}`);
  return { firstMs, totalMs };
}

/** Of user and system, from Linux's /proc. */
async function processorSeconds(pids: readonly number[]): Promise<number> {
  const ticks = await Promise.all(pids.map(async (pid) => {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]!.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  }));
  return ticks.reduce((sum, one) => sum + one, 0) / TICKS_PER_SECOND;
}

function quantile(numbers: readonly number[], share: number): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * share)]!;
}

async function until<T>(what: string, look: () => Promise<T | undefined>): Promise<T> {
  for (let tries = 0; tries < 600; tries += 1) {
    const seen = await look().catch(() => undefined);
    if (seen !== undefined) return seen;
    await delay(500);
  }
  throw new Error(`${what} did not come up.`);
}

const folder = await mkdtemp(path.join(tmpdir(), 'conductor-bench-'));
const upstream = await ScriptedServer.start(() => ({ begin: ANSWER.slice(0, 100), rest: Promise.resolve(ANSWER.slice(100)) }));
const children: ChildProcess[] = [];
const environment = { PATH: process.env['PATH'] ?? '', HOME: folder };
/** Of each way through Conductor, what stops its backend. */
const stops: (() => Promise<unknown>)[] = [];

/** @param cli of this checkout, or of another one */
async function conductorWay(name: string, cli: string): Promise<Way> {
  const home = path.join(folder, name);
  const env = { ...environment, CONDUCTOR_HOME: home };
  await mkdir(home, { recursive: true, mode: 0o700 });
  const worker = { id: 'first', model: 'first', provider: 'openai-compatible', baseUrl: upstream.baseUrl, maxOutputTokens: 500, price: { inputPerMillion: 0, outputPerMillion: 0 } };
  await writeFile(path.join(home, 'workers.json'), JSON.stringify({ version: 1, workers: [worker] }));
  const adding = spawn(process.execPath, [cli, 'serve', 'key', 'add', 'bench'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const key = (await adding.stdout.setEncoding('utf8').toArray()).join('').trim();
  const serving = spawn(process.execPath, [cli, 'serve', '--port', '0'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  children.push(serving);
  stops.push(() => once(spawn(process.execPath, [cli, 'backend', 'stop'], { env, stdio: 'ignore' }), 'close'));
  const [line] = (await once(serving.stdout.setEncoding('utf8'), 'data')) as [string];
  const url = line.trim();
  await ask({ name, url, key, pids: [] }, QUESTION);
  const { pid } = JSON.parse(await readFile(path.join(home, 'backend.json'), 'utf8')) as { pid: number };
  return { name, url, key, pids: [serving.pid!, pid] };
}

async function litellmWay(command: string): Promise<Way> {
  const port = await freePort();
  const key = 'sk-bench';
  const config = path.join(folder, 'litellm.yaml');
  await writeFile(config, JSON.stringify({
    model_list: [{ model_name: 'first', litellm_params: { model: 'openai/first', api_base: upstream.baseUrl, api_key: 'none' } }], general_settings: { master_key: key },
  }));
  const serving = spawn(command, ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--telemetry', 'False'], { env: { ...environment, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' }, stdio: 'ignore' });
  children.push(serving);
  const way: Way = { name: 'LiteLLM', url: `http://127.0.0.1:${port}/v1`, key, pids: [serving.pid!] };
  await until('LiteLLM', () => ask(way, QUESTION));
  return way;
}

try {
  const ways = [
    { name: 'neither', url: upstream.baseUrl, key: 'none', pids: [] }, await conductorWay('conductor serve', CLI),
    ...(values.before === undefined ? [] : [await conductorWay('conductor serve, before', path.resolve(values.before, 'run-cli.mjs'))]), await litellmWay(values.litellm),
  ];
  for (let index = 0; index < WARM_UP; index += 1) for (const way of ways) await ask(way, `${index} warm\n${QUESTION}`);
  const taken = new Map<Way, Taken[]>(ways.map((way) => [way, []]));
  const before = await Promise.all(ways.map(({ pids }) => processorSeconds(pids)));
  // One after another, each of them first as often, so that what else the machine does meets all alike. No question is asked twice, so that nobody answers from a cache.
  for (let index = 0; index < REQUESTS; index += 1) {
    for (const way of [...ways.slice(index % ways.length), ...ways.slice(0, index % ways.length)]) taken.get(way)!.push(await ask(way, `${index}\n${QUESTION}`));
  }
  const after = await Promise.all(ways.map(({ pids }) => processorSeconds(pids)));
  const [direct] = ways;
  for (const [index, way] of ways.entries()) {
    const differences = (of: keyof Taken): number[] => taken.get(way)!.map((one, number) => one[of] - taken.get(direct!)![number]![of]);
    // The lower tenth is what the way itself takes, where the machine does much other work.
    const added = (of: keyof Taken): string => [0.5, 0.1].map((share) => quantile(differences(of), share).toFixed(1)).join(', lower tenth ');
    const own = (of: keyof Taken): string => quantile(taken.get(way)!.map((one) => one[of]), 0.5).toFixed(1);
    const cpu = ((after[index]! - before[index]!) / REQUESTS * 1_000).toFixed(1);
    console.log(`${way.name}: first ${own('firstMs')} ms (added ${added('firstMs')}), total ${own('totalMs')} ms (added ${added('totalMs')}), processor ${cpu} ms a request`);
  }
} finally {
  for (const child of children) child.kill('SIGINT');
  await Promise.all(stops.map((stop) => stop()));
  await upstream.close();
  await rm(folder, { recursive: true, force: true });
}
