import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import type { Listening } from '../../backend/common/local-http.ts';
import { openEndpoint, type Backend, type EndpointOptions } from '../../backend/serve/endpoint.ts';
import { ClientKeys } from '../../backend/serve/client-keys.ts';
import { GivenItems } from '../../backend/serve/given-items.ts';
import { explainError } from '../../backend/server/explain-error.ts';
import { workersFileSchema, type WorkersFile } from '../../backend/protocol/worker-config.ts';
import { startConversations } from '../support/conversations.ts';
import { ScriptedServer, type ScriptedAnswer, type ScriptedRequest } from '../support/scripted-server.ts';

export const PLAN = 'model_id = [0, 1]\nsubtasks = ["Find the cause.", "Mend it with the tools."]\naccess_list = [[], [0]]';
/** The planner plans two steps, the first one advises, the second one speaks. */
export const plainly = ({ model }: Pick<ScriptedRequest, 'model'>): ScriptedAnswer => (model === 'planner' ? PLAN : model === 'first' ? 'The bound is off by one.' : 'Mended.');

/** The endpoint on a real socket in this process, with conversations on a real journal behind it, and workers behind a real wire. */
export class Served {
  script: (request: ScriptedRequest) => ScriptedAnswer = plainly;
  folder = '';
  key = '';
  workers!: ScriptedServer;
  file!: WorkersFile;
  conversations!: ReturnType<typeof startConversations>;
  readonly logged: string[] = [];
  #endpoint!: Listening;
  #given: readonly GivenItems[] = [];

  /** Without `/v1`. */
  get url(): string {
    return `http://127.0.0.1:${this.#endpoint.port}`;
  }

  get keys(): ClientKeys {
    return new ClientKeys(this.folder);
  }

  async open(options: Partial<EndpointOptions> = {}): Promise<void> {
    this.folder = await mkdtemp(path.join(tmpdir(), 'conductor-serve-'));
    this.workers = await ScriptedServer.start((asked) => this.script(asked));
    const worker = { provider: 'openai-compatible', baseUrl: this.workers.baseUrl, maxOutputTokens: 1_000, price: { inputPerMillion: 1, outputPerMillion: 1 } };
    this.file = workersFileSchema.parse({
      version: 1, conductor: 'planner',
      workers: [{ ...worker, id: 'first', model: 'first' }, { ...worker, id: 'second', model: 'second' }, { ...worker, id: 'planner', model: 'planner', enabled: false }],
    });
    this.conversations = startConversations(this.folder, () => this.file);
    this.key = await this.keys.add('tests', undefined);
    this.#endpoint = await this.#opened(options);
  }

  /** As a server that is started again does. */
  async restart(options: Partial<EndpointOptions> = {}): Promise<void> {
    await this.#endpoint.close();
    this.#endpoint = await this.#opened(options);
  }

  /** Resolves when all that clients were given is written. */
  async settled(): Promise<void> {
    await Promise.all(this.#given.map((given) => given.settled()));
  }

  async close(): Promise<void> {
    await this.#endpoint.close();
    await this.conversations.close();
    await this.workers.close();
    await rm(this.folder, { recursive: true, force: true });
  }

  async #opened(options: Partial<EndpointOptions>): Promise<Listening> {
    const given = new GivenItems({ home: this.folder, keys: this.keys });
    const givenResponses = new GivenItems({ home: this.folder, keys: this.keys, folder: 'given-responses' });
    this.#given = [given, givenResponses];
    return await openEndpoint({ keys: this.keys, given, givenResponses, backend: this.#backend(), port: 0, log: (line) => this.logged.push(line), ...options });
  }

  /** As the backend wires it. */
  #backend(): Backend {
    const { converser } = this.conversations;
    return {
      workers: async () => this.file.workers,
      count: (told) => converser.count(told),
      turn: (asked, options) => converser.turn(asked, options).catch((error: unknown) => { throw explainError(error) ?? error; }),
    };
  }
}

/** One endpoint for all tests of a file. */
export function served(options: Partial<EndpointOptions> = {}): Served {
  const one = new Served();
  beforeAll(() => one.open(options));
  afterAll(() => one.close());
  beforeEach(() => { one.script = plainly; });
  return one;
}
