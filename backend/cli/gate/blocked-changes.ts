import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';

const fileSchema = z.object({ blocked: z.array(z.string()) });
/** A conversation that is older is not going on. */
const KEPT_MS = 7 * 24 * 3_600_000;

/** The changes for which agents were kept from stopping, by conversation: none is for the same change again. */
export class BlockedChanges {
  readonly #folder: string;
  readonly #file: string;

  /** @param home Conductor's folder, absolute */
  constructor(home: string, { session, workspace }: { readonly session: string; readonly workspace: string }) {
    this.#folder = path.join(home, 'gate');
    this.#file = path.join(this.#folder, `${createHash('sha256').update(JSON.stringify([session, workspace])).digest('hex')}.json`);
  }

  async has(digest: string): Promise<boolean> {
    return (await this.#read()).includes(digest);
  }

  /** Whether the agent was kept before, for any change. */
  async hasAny(): Promise<boolean> {
    return (await this.#read()).length > 0;
  }

  async add(digest: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await this.#sweep();
    await replaceFile(this.#file, JSON.stringify({ blocked: [...(await this.#read()), digest] }), { isDurable: false });
  }

  async #read(): Promise<readonly string[]> {
    try {
      return fileSchema.safeParse(JSON.parse(await readFile(this.#file, 'utf8'))).data?.blocked ?? [];
    } catch {
      return [];
    }
  }

  async #sweep(): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const file = path.join(this.#folder, name);
      const found = await stat(file).catch(() => undefined);
      if (found && Date.now() - found.mtimeMs > KEPT_MS) await rm(file, { force: true });
    }
  }
}
