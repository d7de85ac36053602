import path from 'node:path';
import { absoluteModelName } from '../lm/process/find-model-folder.ts';
import { formatDuration } from '../protocol/figures.ts';
import type { ClientRequests, Pool, Result } from '../protocol/methods.ts';
import { AGENT_NAMES, KNOWN_AGENTS, type AgentName } from '../protocol/known-agents.ts';
import { seesPictures } from '../protocol/pictures.ts';
import { estimateWords, plannerReason } from '../protocol/planner-words.ts';
import { priceWords } from '../protocol/price-words.ts';
import { AGENTS_OWN_MODEL, providerSchema, workerConfigSchema, type WorkerConfig } from '../protocol/worker-config.ts';
import { readArguments } from './arguments.ts';
import type { Command } from './command.ts';
import { EXIT } from './exit-codes.ts';
import { allPrintable, jsonText, printable, type Terminal } from './terminal.ts';
import { UsageError } from './usage-error.ts';

const OPTIONS = {
  provider: { type: 'string' },
  model: { type: 'string' },
  'base-url': { type: 'string' },
  key: { type: 'string' },
  adapter: { type: 'string' },
  served: { type: 'string' },
  'served-folder': { type: 'string' },
  'server-folder': { type: 'string' },
  description: { type: 'string' },
  hands: { type: 'string' },
  agent: { type: 'string' },
  host: { type: 'string', multiple: true },
  'step-usd': { type: 'string' },
  conductor: { type: 'boolean' },
  'no-try': { type: 'boolean' },
  json: { type: 'boolean' },
} as const;

const ACTIONS: readonly string[] = ['list', 'agents', 'add', 'try', 'plan', 'remove'];
/** The name by which nobody is chosen to plan. */
const BY_PRICE = 'auto';

/** Without `vscode`: VS Code's own models are added in VS Code. Agents have an option of their own. */
const PROVIDERS: readonly string[] = providerSchema.options.filter((provider) => provider !== 'vscode' && provider !== 'acp');

type Tried = Result<ClientRequests, 'worker/try'>;
type Values = ReturnType<typeof readArguments<typeof OPTIONS>>['values'];

/** `conductor worker [list|add|try|plan|remove]`: the pool in workers.json. The file holds only the names of keys; the keys stay in the environment. */
export const workerCommand: Command = async (args, { terminal, connect, currentFolder }) => {
  const { values, positionals } = readArguments(args, OPTIONS);
  const [action = 'list', id, ...rest] = positionals;
  if (!ACTIONS.includes(action)) throw new UsageError(`There is no "worker ${action}"; there are ${ACTIONS.join(', ')}.`);
  const takesNone = action === 'list' || action === 'agents';
  if (rest.length > 0 || takesNone !== (id === undefined)) {
    throw new UsageError(takesNone ? `"worker ${action}" takes no worker.` : `Name one worker: conductor worker ${action} ID`);
  }
  const added = action === 'add' ? await workerFrom(id ?? '', values, currentFolder) : undefined;
  const client = await connect();
  try {
    const pool = await client.request('pool/get', {});
    const print = (shown: Pool): void => printPool(shown, terminal, values.json ?? false);
    const known = (): WorkerConfig => {
      const status = pool.workers.find(({ worker }) => worker.id === id);
      if (!status) throw new UsageError(`There is no worker "${id}".`);
      return status.worker;
    };
    const tryOut = (worker: WorkerConfig): Promise<Tried> => client.request('worker/try', { worker });
    const tell = ({ ok, message, durationMs }: Tried, where = ''): void =>
      terminal.say(ok ? `✓ "${id}" answered${where} in ${formatDuration(durationMs)}.` : `✗ ${printable(message)}`);
    /** The worker with the hands that the test showed, unless the user chose them, and with whether it sees pictures. */
    const withAbilities = (worker: WorkerConfig, { hands, pictures }: Tried): WorkerConfig => ({
      ...worker, ...(hands !== undefined && values.hands === undefined && { hands }), ...(pictures !== undefined && { pictures }),
    });
    /** The worker if it answers; without a path in its address, also where OpenAI's API usually is. */
    const answering = async (worker: WorkerConfig): Promise<WorkerConfig | undefined> => {
      const tried = await tryOut(worker);
      const below = tried.ok ? undefined : withUsualPath(worker);
      const again = below && (await tryOut(below));
      if (again?.ok) tell(again, ` at ${below?.baseUrl}`);
      else tell(tried);
      if (tried.ok) return withAbilities(worker, tried);
      return below && again?.ok ? withAbilities(below, again) : undefined;
    };
    switch (action) {
      case 'add': {
        const worker = values['no-try'] ? (added as WorkerConfig) : await answering(added as WorkerConfig);
        if (!worker) {
          terminal.say('The worker was not added. To add it anyway, use --no-try.');
          return EXIT.failed;
        }
        print(await client.request('worker/save', { worker, conductor: values.conductor ?? false }));
        if (worker.hands !== undefined && values.hands === undefined) terminal.say(handsFound(worker));
        if (pool.workers.some((status) => status.worker.id === id)) terminal.say(`The worker "${worker.id}" already existed; it was replaced.`);
        return EXIT.ok;
      }
      case 'agents': {
        const { agents } = await client.request('agents/find', {});
        if (values.json) terminal.result(jsonText({ agents }, 2));
        else printAgents(agents, terminal);
        return EXIT.ok;
      }
      case 'try': {
        const worker = known();
        const tried = await tryOut(worker);
        tell(tried);
        if (tried.pictures !== undefined && tried.pictures !== worker.pictures) {
          await client.request('worker/save', { worker: { ...worker, pictures: tried.pictures } });
          terminal.say(`"${worker.id}" ${tried.pictures ? 'sees pictures' : 'sees no pictures'}: workers.json says so now.`);
        }
        return tried.ok ? EXIT.ok : EXIT.failed;
      }
      case 'plan': {
        const planned = await client.request('conductor/choose', { id: id === BY_PRICE ? null : (id ?? null) });
        print(planned);
        return EXIT.ok;
      }
      case 'remove': {
        const left = await client.request('worker/remove', { id: known().id });
        print(left);
        if (pool.conductor === id && left.conductor === undefined && left.workers.length > 0) terminal.say(conductorGone(known().id, left));
        return EXIT.ok;
      }
      default:
        print(pool);
        return EXIT.ok;
    }
  } finally {
    client.close();
  }
};

/** The worker below `/v1`; undefined if its address has a path. */
function withUsualPath(worker: WorkerConfig): WorkerConfig | undefined {
  const { provider, baseUrl } = worker;
  if (provider !== 'openai-compatible' || baseUrl === undefined || new URL(baseUrl).pathname !== '/') return undefined;
  return { ...worker, baseUrl: new URL('/v1', baseUrl).href };
}

function handsFound({ id, hands }: WorkerConfig): string {
  const how = hands === 'tools' ? 'calls tools' : 'writes commands as text';
  return `"${id}" ${how}: in a project it may look, edit and run in a private copy before it answers, which takes more calls. ` +
    'To let it only answer, add it with --hands none.';
}

function conductorGone(removed: string, { planner }: Pool): string {
  return `"${removed}" played the Conductor. ${planner ? plannerLine(planner) : 'Nobody plans now.'} ` +
    'To choose another: conductor worker plan ID, or --conductor ID for one question.';
}

function plannerLine({ worker, choice }: NonNullable<Pool['planner']>): string {
  return printable(`"${worker.id}" plans: ${[plannerReason(choice.why), ...estimateWords(choice.estimate)].join(', ')}.`);
}

async function workerFrom(id: string, values: Values, currentFolder: string): Promise<WorkerConfig> {
  if (values.agent !== undefined || values.provider === 'acp') return agentFrom(id, values);
  for (const option of ['host', 'step-usd'] as const) if (values[option] !== undefined) throw new UsageError(`--${option} goes with --agent.`);
  if (values.provider === undefined || !PROVIDERS.includes(values.provider)) {
    throw new UsageError(`--provider takes ${PROVIDERS.join(', ')}${values.provider === undefined ? '.' : `, not "${values.provider}".`}`);
  }
  if (!values.model) throw new UsageError('--model takes the provider\'s name for the model.');
  const parsed = workerConfigSchema.safeParse({
    id,
    provider: values.provider,
    model: values.provider === 'local' ? await absoluteModelName(values.model, currentFolder) : values.model,
    baseUrl: values['base-url'],
    key: values.key,
    served: await servedFrom(values, currentFolder),
    adapter: values.adapter === undefined ? undefined : path.resolve(currentFolder, values.adapter),
    description: values.description,
    hands: values.hands === 'none' ? undefined : values.hands,
  });
  return checked(parsed);
}

/** What is here of a served Conductor's model; undefined for other workers. @throws UsageError */
async function servedFrom({ served: model, 'served-folder': folder, 'server-folder': serverFolder }: Values, currentFolder: string): Promise<object | undefined> {
  if (model !== undefined) return { model: await absoluteModelName(model, currentFolder), folder: folder === undefined ? undefined : path.resolve(currentFolder, folder), serverFolder };
  if (folder === undefined && serverFolder === undefined) return undefined;
  throw new UsageError(`--${folder === undefined ? 'server-folder' : 'served-folder'} goes with --served.`);
}

/** A worker that is an agent that we know. Others are written into workers.json. @throws UsageError */
function agentFrom(id: string, values: Values): WorkerConfig {
  const name = AGENT_NAMES.find((known) => known === values.agent);
  if (!name) throw new UsageError(`--agent takes ${AGENT_NAMES.join(', ')}${values.agent === undefined ? '' : `, not "${values.agent}"`}. Others are written into workers.json: docs/agents.md says how.`);
  for (const option of ['base-url', 'adapter', 'served', 'served-folder', 'server-folder', 'hands'] as const) if (values[option] !== undefined) throw new UsageError(`--${option} does not go with --agent.`);
  const { agent } = KNOWN_AGENTS[name];
  return checked(workerConfigSchema.safeParse({
    id, provider: 'acp', model: values.model ?? AGENTS_OWN_MODEL, key: values.key, description: values.description,
    agent: { ...agent, hosts: values.host ?? agent.hosts, ...(values['step-usd'] !== undefined && { stepUsd: Number(values['step-usd']) }) },
  }));
}

function checked(parsed: ReturnType<typeof workerConfigSchema.safeParse>): WorkerConfig {
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const option = issue?.path.includes('stepUsd') ? 'step-usd' : String(issue?.path[0] ?? 'worker').replace('baseUrl', 'base-url');
  throw new UsageError(`--${option}: ${issue?.message ?? 'not valid'}`);
}

function printAgents(found: readonly AgentName[], terminal: Terminal): void {
  for (const name of AGENT_NAMES) {
    const { label, install } = KNOWN_AGENTS[name];
    const isHere = found.includes(name);
    terminal.result([
      terminal.resultStyle(isHere ? 'green' : 'yellow', isHere ? '✓' : '–'), name.padEnd(16), label.padEnd(14),
      isHere ? `conductor worker add ${name} --agent ${name}` : `not installed: ${install}`,
    ].join(' '));
  }
}

function printPool({ file, conductor, planner, workers }: Pool, terminal: Terminal, json: boolean): void {
  if (json) {
    terminal.result(jsonText({ file, conductor: conductor ?? null, planner: planner ? { id: planner.worker.id, ...planner.choice } : null, workers }, 2));
    return;
  }
  if (workers.length === 0) {
    terminal.say('No worker yet: conductor worker add ID --provider openai --model gpt-6.1-sol --key OPENAI_API_KEY');
    return;
  }
  for (const { worker, ready, reason, price, serves } of allPrintable(workers)) {
    const marks = [worker.id === planner?.worker.id && 'conductor', !worker.enabled && 'off', price ? priceWords(price) : 'unpriced', serves && `serves ${serves}`, worker.hands && `hands: ${worker.hands}`, seesPictures(worker) && 'sees pictures', worker.simulated && 'simulated'];
    terminal.result([
      terminal.resultStyle(ready ? 'green' : 'yellow', ready ? '✓' : '–'),
      worker.id.padEnd(16), worker.provider.padEnd(18), worker.model.padEnd(28), marks.filter(Boolean).join(', '), reason ?? '',
    ].join(' ').trimEnd());
  }
  if (planner) terminal.say(plannerLine(planner));
  terminal.say(file);
}
