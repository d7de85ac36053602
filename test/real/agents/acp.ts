import { access, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { isProcessAlive } from '../../../backend/protocol/client/process-alive.ts';
import { workerConfigSchema, type AgentConfig } from '../../../backend/protocol/worker-config.ts';
import { SimulatorServer } from '../../../backend/simulator/server.ts';
import { RunFolders } from '../../../backend/verify/files/run-folder.ts';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { agentRunner } from '../../../backend/wiring/agents.ts';
import { AcpAdapter } from '../../../backend/workers/adapters/acp/acp-adapter.ts';
import { edits, type Seen } from './editing.ts';
import { startGeminiServer } from './gemini-server.ts';

/*
 * Whether real agents do a step over the Agent Client Protocol, in the sandbox, against the simulated servers. Each gets a project and a home of
 * its own: nobody's login is read.
 *
 *     npm install --prefix FOLDER opencode-ai @agentclientprotocol/codex-acp @agentclientprotocol/claude-agent-acp @google/gemini-cli
 *     node with-node.mjs node test/real/agents/acp.ts --agents FOLDER
 */

interface RealAgent {
  readonly program: string;
  readonly args: readonly string[];
  readonly settings: Partial<AgentConfig>;
  /** Its configuration, by its path in the home. */
  files(url: string): Readonly<Record<string, string>>;
  env(url: string): Readonly<Record<string, string>>;
  /** Whether it speaks the Gemini API. */
  readonly isGemini?: boolean;
}

const AGENTS: readonly RealAgent[] = [
  {
    program: 'opencode', args: ['acp'], settings: { home: ['.config/opencode'] },
    files: (url) => ({
      '.config/opencode/opencode.json': JSON.stringify({
        autoupdate: false, share: 'disabled', model: 'sim/sim-cedar', small_model: 'sim/sim-cedar', permission: { edit: 'ask', bash: 'ask' },
        provider: { sim: { npm: '@ai-sdk/openai-compatible', name: 'sim', options: { baseURL: `${url}/v1`, apiKey: 'none' }, models: { 'sim-cedar': { tool_call: true } } } },
      }),
    }),
    env: () => ({ OPENCODE_DISABLE_AUTOUPDATE: '1', OPENCODE_DISABLE_MODELS_FETCH: '1' }),
  },
  {
    program: 'codex-acp', args: [], settings: { home: ['.codex/config.toml'], mode: 'agent-full-access' },
    files: (url) => ({
      '.codex/config.toml': [
        'model = "sim-atlas"', 'model_provider = "sim"', '[model_providers.sim]', 'name = "sim"', `base_url = "${url}/v1"`, 'wire_api = "responses"', '[analytics]', 'enabled = false', '',
      ].join('\n'),
    }),
    env: () => ({ NO_BROWSER: '1' }),
  },
  {
    program: 'claude-agent-acp', args: [], settings: {}, files: () => ({}),
    env: (url) => ({ ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: 'none', ANTHROPIC_MODEL: 'sim-dune', ANTHROPIC_SMALL_FAST_MODEL: 'sim-birch', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }),
  },
  {
    program: 'gemini', args: ['--acp'], settings: { home: ['.gemini/settings.json'] }, isGemini: true,
    files: () => ({
      '.gemini/settings.json': JSON.stringify({
        security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false }, general: { enableAutoUpdate: false },
      }),
    }),
    env: (url) => ({ GOOGLE_GEMINI_BASE_URL: url, GEMINI_API_KEY: 'none' }),
  },
  {
    program: 'vibe-acp', args: [], settings: { home: ['.vibe/config.toml'] },
    files: (url) => ({
      '.vibe/config.toml': [
        'active_model = "sim"', 'enable_telemetry = false', 'enable_update_checks = false', '[[providers]]', 'name = "sim"', `api_base = "${url}/v1"`, 'api_key_env_var = "SIM_KEY"',
        '[[models]]', 'name = "sim-cedar"', 'provider = "sim"', 'alias = "sim"', '',
      ].join('\n'),
    }),
    env: () => ({ SIM_KEY: 'none' }),
  },
  {
    program: 'fast-agent-acp', args: ['--model', 'openai.sim-cedar', '-x'], settings: {}, files: () => ({}),
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none' }),
  },
  {
    program: 'nanocoder', args: ['--acp', '--provider', 'sim', '--model', 'sim-cedar'], settings: { home: ['.config/nanocoder/agents.config.json'] },
    files: (url) => ({ '.config/nanocoder/agents.config.json': JSON.stringify({ nanocoder: { providers: [{ name: 'sim', baseUrl: `${url}/v1`, apiKey: 'none', models: ['sim-cedar'] }] } }) }),
    env: () => ({ NANOCODER_TRUST_DIRECTORY: '1' }),
  },
  {
    program: 'qwen', args: ['--acp', '--auth-type', 'openai'], settings: {}, files: () => ({}),
    env: (url) => ({ OPENAI_BASE_URL: `${url}/v1`, OPENAI_API_KEY: 'none', OPENAI_MODEL: 'sim-cedar' }),
  },
  {
    program: 'copilot', args: ['--acp'], settings: {}, files: () => ({}),
    env: (url) => ({ COPILOT_PROVIDER_BASE_URL: `${url}/v1`, COPILOT_PROVIDER_API_KEY: 'none', COPILOT_MODEL: 'sim-cedar', COPILOT_OFFLINE: 'true' }),
  },
  {
    program: 'kimi', args: ['acp'], settings: { home: ['.kimi-code/config.toml'] },
    files: (url) => ({
      '.kimi-code/config.toml': [
        'default_model = "sim"', '[providers.sim]', 'type = "openai"', `base_url = "${url}/v1"`, 'api_key = "none"', '[models.sim]', 'provider = "sim"', 'model = "sim-cedar"', 'max_context_size = 200000', '',
      ].join('\n'),
    }),
    env: () => ({}),
  },
];

const WANTED = 'hello, quiet fox';
const { values } = parseArgs({ options: { agents: { type: 'string' }, only: { type: 'string' } } });
if (values.agents === undefined) throw new Error('Name the folder in which the agents are installed: --agents FOLDER');
/** Where npm and where Python's environments put programs. */
const programs = ['node_modules/.bin', 'bin'].map((folder) => path.resolve(values.agents ?? '', folder));

async function tryAgent({ program, args, settings, files, env, isGemini = false }: RealAgent): Promise<boolean> {
  const file = await firstOf(programs.map((folder) => path.join(folder, program)));
  if (file === undefined) {
    console.log(`– ${program}: not installed`);
    return true;
  }
  const root = await realpath(await mkdtemp(path.join(tmpdir(), 'conductor-acp-')));
  const [home, folder] = [path.join(root, 'home'), path.join(root, 'project')];
  await Promise.all([home, folder].map((one) => mkdir(one)));
  const greeting = path.join(folder, 'greeting.txt');
  await writeFile(greeting, 'hello, loud fox\n');
  const seen: Seen = { turns: 0, results: 0 };
  const hands = edits({ file: greeting, wanted: WANTED }, seen);
  const server = isGemini ? await startGeminiServer(hands) : await SimulatorServer.start({ seed: 1, latency: 0, hands });
  const folders = new RunFolders(path.join(root, 'runs'), isProcessAlive);
  try {
    for (const [name, text] of Object.entries(files(server.url))) {
      await mkdir(path.dirname(path.join(home, name)), { recursive: true });
      await writeFile(path.join(home, name), text);
    }
    const searchPath = process.env['PATH'] ?? '';
    const run = agentRunner({ sandbox: new Sandbox({ searchPath, homeFolder: home, folders }), folders, searchPath, homeFolder: home });
    const worker = workerConfigSchema.parse({
      id: program, provider: 'acp', model: 'default', agent: { command: [file, ...args], hosts: [new URL(server.url).host], env: env(server.url), minutes: 4, ...settings },
    });
    const acts: string[] = [];
    const signal = AbortSignal.timeout(300_000);
    const reply = await new AcpAdapter({ worker, key: undefined, run }).stream(
      { messages: [{ role: 'user', content: 'Change greeting.txt so that it says hello to the quiet fox.' }], maxOutputTokens: 1_000, place: { folder, hidden: [], readable: [], programFolders: [], environment: {}, ended: async () => {} } },
      { signal, onText: () => {}, onThinking: () => {}, onActivity: () => {}, onAct: ({ call }) => acts.push(call.name) },
    );
    const isChanged = (await readFile(greeting, 'utf8')).trim() === WANTED;
    const isTold = reply.text.includes('Done: the file is changed.');
    const { usage } = reply;
    const cost = `${usage.estimated ? 'about ' : ''}${usage.uncachedInput + usage.cacheRead + usage.cacheWrite + usage.output} tokens${reply.usd === undefined ? '' : `, $${reply.usd}`}`;
    console.log(`${isChanged && isTold ? '✓' : '✗'} ${program}: ${seen.turns} turns, acts ${acts.join(' ') || 'none'}, ${cost}, file ${isChanged ? 'changed' : 'as it was'}`);
    if (!isTold) console.log(reply.text.slice(-2_000));
    return isChanged && isTold;
  } catch (error) {
    console.log(`✗ ${program}: ${String(error)}`);
    return false;
  } finally {
    await server.close();
    await rm(root, { recursive: true, force: true });
  }
}

async function firstOf(files: readonly string[]): Promise<string | undefined> {
  for (const file of files) if (await access(file).then(() => true, () => false)) return file;
  return undefined;
}

let isFine = true;
for (const agent of AGENTS) if (values.only === undefined || values.only === agent.program) isFine = (await tryAgent(agent)) && isFine;
process.exitCode = isFine ? 0 : 1;
