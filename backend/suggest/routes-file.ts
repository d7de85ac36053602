import * as z from 'zod';
import { readJsonFile } from '../workers/read-json-file.ts';
import { replaceFile } from '../common/replace-file.ts';

/** The worker chosen for a language in a project. */
export const routeSchema = z.object({
  workspace: z.string(),
  language: z.string(),
  /** Fingerprint of the pool and the Conductor. */
  pool: z.string(),
  worker: z.string(),
  /** Name of the Conductor's model. */
  plannedBy: z.string(),
  at: z.number(),
});
export type Route = z.infer<typeof routeSchema>;

const fileSchema = z.object({ version: z.literal(1), routes: z.array(routeSchema) });

/** Enough for a few hundred projects; the oldest are dropped first. */
const MAX_ROUTES = 1_000;

/** The routes on disk. An unreadable file is replaced: planning a route again costs a cent. */
export class RoutesFile {
  readonly #path: string;
  readonly #log: (line: string) => void;
  #routes: Promise<readonly Route[]> | undefined;
  #written: Promise<void> = Promise.resolve();

  constructor(path: string, log: (line: string) => void) {
    this.#path = path;
    this.#log = log;
  }

  async find({ workspace, language, pool }: Pick<Route, 'workspace' | 'language' | 'pool'>): Promise<Route | undefined> {
    const routes = await this.#read();
    return routes.findLast((route) => route.workspace === workspace && route.language === language && route.pool === pool);
  }

  async add(route: Route): Promise<void> {
    this.#routes = this.#read().then((routes) => [...routes, route].slice(-MAX_ROUTES));
    // In order, so that an older list never replaces a newer one.
    this.#written = this.#written.then(async () => this.#write(await this.#read()));
    await this.#written;
  }

  async #write(routes: readonly Route[]): Promise<void> {
    try {
      await replaceFile(this.#path, `${JSON.stringify({ version: 1, routes }, null, 2)}\n`);
    } catch (error) {
      this.#log(`Who suggests in which language was not kept: ${String(error)}`);
    }
  }

  #read(): Promise<readonly Route[]> {
    return (this.#routes ??= readJsonFile(this.#path, fileSchema).then((file) => file?.routes ?? [], (error: unknown) => {
      this.#log(`Who suggests in which language is chosen anew: ${String(error)}`);
      return [];
    }));
  }
}
