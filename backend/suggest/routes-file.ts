import * as z from 'zod';
import { readJsonFile } from '../workers/read-json-file.ts';
import { replaceFile } from '../common/replace-file.ts';

/** Who was chosen for a language in a project, by whom, among which workers. */
export const routeSchema = z.object({
  workspace: z.string(),
  language: z.string(),
  /** Of the pool and of who plays the Conductor. */
  pool: z.string(),
  worker: z.string(),
  /** What the Conductor's model is called. */
  plannedBy: z.string(),
  at: z.number(),
});
export type Route = z.infer<typeof routeSchema>;

const fileSchema = z.object({ version: z.literal(1), routes: z.array(routeSchema) });

/** Enough for a few hundred projects; the oldest is forgotten first. */
const MAX_ROUTES = 1_000;

/** The routes that outlive the backend. A file that cannot be read is begun anew: a route is planned again for a cent. */
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
    // One after the other, so that the file never ends with the fewer of two.
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
