import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type * as z from 'zod';
import type { KeyHolder } from '../../common/hashed-keys.ts';
import { bearerKey, foreignSource, listenHere, type Listening, PortTakenError } from '../../common/local-http.ts';
import { readAtMost } from '../../common/read-at-most.ts';
import { type Coordinator, OtherMemberError } from './coordinator.ts';
import { TeamError } from './team-error.ts';
import { givenGroupSchema, MAX_GROUP_BYTES, MAX_MESSAGE_BYTES, TEAM_PATH, teamAskSchema } from './team-messages.ts';

/** Whose key it is; undefined for an unknown one. */
export interface TeamKeys {
  find(key: string): Promise<KeyHolder | undefined>;
}

export interface CoordinatorServerOptions {
  readonly coordinator: Pick<Coordinator, 'terms' | 'state' | 'take' | 'leave'>;
  readonly keys: TeamKeys;
  /** 0 for a free one. */
  readonly port: number;
  /** For what is this machine's fault. */
  readonly log: (message: string) => void;
}

class Refusal extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

interface Exchange extends CoordinatorServerOptions {
  readonly request: IncomingMessage;
  readonly holder: KeyHolder;
  /** Aborts when the member has gone. */
  readonly gone: AbortSignal;
}

type Route = (exchange: Exchange) => Promise<object>;

const instanceSchema = teamAskSchema.pick({ instance: true });

const ROUTES: Readonly<Record<string, Route>> = {
  'GET /terms': async ({ coordinator }) => coordinator.terms,
  'POST /state': async ({ coordinator, holder, request, gone }) => await coordinator.state(holder, await bodyOf(request, teamAskSchema, MAX_MESSAGE_BYTES), gone),
  'POST /groups': async ({ coordinator, holder, request }) => ({ taken: coordinator.take(holder, await bodyOf(request, givenGroupSchema, MAX_GROUP_BYTES)) }),
  'POST /leave': async ({ coordinator, holder, request }) => {
    coordinator.leave(holder, (await bodyOf(request, instanceSchema, MAX_MESSAGE_BYTES)).instance);
    return {};
  },
};

/** A member has two connections. */
const MOST_CONNECTIONS = 256;

/** Lets members of a team reach the coordinator, on 127.0.0.1 alone. @throws TeamError where the port is taken */
export async function openCoordinatorServer(options: CoordinatorServerOptions): Promise<Listening> {
  const { port, log } = options;
  const server = createServer((request, response) => {
    answer(request, response, options).catch((error: unknown) => {
      log(error instanceof Error ? (error.stack ?? error.message) : String(error));
      response.destroy();
    });
  });
  server.headersTimeout = 20_000;
  server.maxConnections = MOST_CONNECTIONS;
  try {
    return await listenHere(server, port);
  } catch (error) {
    throw error instanceof PortTakenError ? new TeamError(`Port ${port} of this machine is taken, so no member could join: set "team.port" to another one.`) : error;
  }
}

async function answer(request: IncomingMessage, response: ServerResponse, options: CoordinatorServerOptions): Promise<void> {
  const gone = new AbortController();
  response.once('close', () => gone.abort(new Error('The member has gone.')));
  try {
    requireOwnHost(request);
    const holder = await holderOf(request, options.keys);
    const route = request.url?.startsWith(`${TEAM_PATH}/`) ? ROUTES[`${request.method} ${request.url.slice(TEAM_PATH.length)}`] : undefined;
    if (!route) throw new Refusal(404, 'There is nothing here: check the version of Conductor on both machines.');
    send(response, 200, await route({ ...options, request, holder, gone: gone.signal }));
  } catch (error) {
    if (gone.signal.aborted) return;
    const refusal = refusalOf(error);
    if (!refusal) throw error;
    send(response, refusal.status, { error: refusal.message });
  }
}

function refusalOf(error: unknown): Refusal | undefined {
  if (error instanceof Refusal) return error;
  if (error instanceof OtherMemberError) return new Refusal(409, error.message);
  return error instanceof TeamError ? new Refusal(400, error.message) : undefined;
}

/** Tunnels have other ports than this server. */
function requireOwnHost(request: IncomingMessage): void {
  const foreign = foreignSource(request);
  if (foreign === 'page') throw new Refusal(403, 'Web pages may not use this address.');
  if (foreign === 'host') throw new Refusal(403, 'This address is reached as 127.0.0.1 or localhost alone.');
}

async function holderOf(request: IncomingMessage, keys: TeamKeys): Promise<KeyHolder> {
  const key = bearerKey(request);
  const holder = key === undefined ? undefined : await keys.find(key);
  if (!holder) throw new Refusal(401, 'The key is not known.');
  return holder;
}

async function bodyOf<T extends z.ZodType>(request: IncomingMessage, schema: T, most: number): Promise<z.output<T>> {
  const { bytes, isWhole } = await readAtMost(request as AsyncIterable<Buffer>, most);
  if (!isWhole) throw new Refusal(413, `A message may have ${most / 2 ** 20} MiB.`);
  let json: unknown;
  try {
    json = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    throw new Refusal(400, 'The message is no JSON.');
  }
  const read = schema.safeParse(json);
  if (read.success) return read.data;
  const [issue] = read.error.issues;
  throw new Refusal(400, `The message is not as it should be at ${issue?.path.join('.') || 'its top'}: ${(issue?.message ?? 'it is not valid').slice(0, 200)}.`);
}

function send(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response.writeHead(status, {
    'content-type': 'application/json', 'content-length': Buffer.byteLength(text), 'cache-control': 'no-store',
    // What is left of a message that was refused is not read.
    ...(status !== 200 && { connection: 'close' }),
  }).end(text);
}
