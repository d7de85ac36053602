import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';

/*
 * Which runs an editor's session holds. The conversation itself is in the journal: a session is its project, its settings and the ids of its
 * runs, a file each, so that several editors can keep theirs at the same time.
 */

export const MODES = ['ask', 'apply'] as const;
export const REVIEWS = ['never', 'above', 'always'] as const;

const sessionSchema = z.object({
  /** Absolute. */
  cwd: z.string(),
  title: z.string(),
  /** ISO 8601. */
  updatedAt: z.string(),
  mode: z.enum(MODES),
  review: z.enum(REVIEWS),
  /** Ids, oldest first. */
  runs: z.array(z.string()),
});
export type KeptSession = z.infer<typeof sessionSchema>;

/** More are not listed by any editor; the runs stay in the journal. */
const MOST_KEPT = 500;

export class SessionFiles {
  readonly #folder: string;

  /** @param home Conductor's folder, absolute */
  constructor(home: string) {
    this.#folder = path.join(home, 'acp-sessions');
  }

  async write(id: string, session: KeptSession): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await replaceFile(this.#fileOf(id), JSON.stringify(session), { isDurable: false });
  }

  /** Undefined if there is none, or if its file cannot be read. */
  async read(id: string): Promise<KeptSession | undefined> {
    if (!isId(id)) return undefined;
    try {
      return sessionSchema.safeParse(JSON.parse(await readFile(this.#fileOf(id), 'utf8'))).data;
    } catch {
      return undefined;
    }
  }

  async remove(id: string): Promise<void> {
    if (isId(id)) await rm(this.#fileOf(id), { force: true });
  }

  /** Newest first. Forgets the oldest of too many. */
  async list(): Promise<(KeptSession & { readonly id: string })[]> {
    const names = await readdir(this.#folder).catch(() => []);
    const found = await Promise.all(names.filter((name) => name.endsWith('.json')).map(async (name) => {
      const file = path.join(this.#folder, name);
      return { id: name.slice(0, -'.json'.length), file, changedAt: (await stat(file).catch(() => undefined))?.mtimeMs ?? 0 };
    }));
    found.sort((a, b) => b.changedAt - a.changedAt);
    await Promise.all(found.slice(MOST_KEPT).map(({ file }) => rm(file, { force: true })));
    const sessions = await Promise.all(found.slice(0, MOST_KEPT).map(async ({ id }) => ({ id, session: await this.read(id) })));
    return sessions.flatMap(({ id, session }) => (session ? [{ id, ...session }] : []));
  }

  #fileOf(id: string): string {
    return path.join(this.#folder, `${id}.json`);
  }
}

/** An editor hands ids back, so they may be anything: only what this program makes names a file. */
const isId = (id: string): boolean => /^[0-9a-f-]{36}$/.test(id);
