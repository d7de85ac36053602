import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { mkdir, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { SerialQueue } from '../common/serial-queue.ts';
import type { ClientKeys } from './client-keys.ts';

/** The most bytes of all items together. */
const MAX_BYTES = 32 * 2 ** 20;
/** What a file takes at least, so that their number is bounded, too. */
const BLOCK_BYTES = 4_096;
/** Items that were neither given nor named for so long belong to no conversation that goes on. */
const KEPT_MS = 7 * 24 * 3_600_000;

export interface GivenItem {
  readonly id: string;
}

/** The items of one account. */
export interface OwnItems {
  keep(item: GivenItem): void;
  /** As it was given; undefined for one that is not known, or no more. */
  find(id: string): unknown;
  /** Resolves when nothing of it is left. */
  remove(id: string): Promise<void>;
}

export interface GivenItemsOptions {
  /** Conductor's folder, absolute. */
  readonly home: string;
  /** Whose key was taken back loses its items. */
  readonly keys: Pick<ClientKeys, 'list'>;
  readonly maxBytes?: number;
  /** Its name in Conductor's folder: what is kept in one takes no place in another. */
  readonly folder?: 'given' | 'given-responses';
}

/**
 * What clients of Responses were given and may name by its id instead of sending it again, as Vercel's AI SDK does with messages unless it is told
 * to store nothing, and OpenAI's Agents SDK with whole responses. The newest are kept, each in a file of its own, so that a server that is started anew, or another one, knows them. The answer does
 * not wait until they are written; until then they are known from memory, since the client may name an item as soon as it has it.
 */
export class GivenItems {
  readonly #folder: string;
  readonly #keys: Pick<ClientKeys, 'list'>;
  readonly #maxBytes: number;
  /** Written since the last sweep. */
  #bytes = 0;
  /** The texts of items that are not yet written, by their file. */
  readonly #unwritten = new Map<string, string>();
  /** Their characters together. */
  #waiting = 0;
  /** What is done on the disk, one after the other. */
  readonly #disk = new SerialQueue();

  constructor({ home, keys, maxBytes = MAX_BYTES, folder = 'given' }: GivenItemsOptions) {
    this.#folder = path.join(home, folder);
    this.#keys = keys;
    this.#maxBytes = maxBytes;
  }

  of(account: string): OwnItems {
    const folder = path.join(this.#folder, nameOf(account));
    const fileOf = (id: string): string => path.join(folder, `${nameOf(id)}.json`);
    return {
      keep: (item) => {
        const text = JSON.stringify(item);
        const file = fileOf(item.id);
        // A disk that is slower than the clients costs no memory beyond the limit, but only that some cannot be named later.
        if (this.#waiting + text.length > this.#maxBytes) return;
        this.#waiting += text.length;
        this.#unwritten.set(file, text);
        this.#later(async () => {
          try {
            await mkdir(folder, { recursive: true, mode: 0o700 });
            await writeFile(file, text, { mode: 0o600 });
          } finally {
            // A full disk costs the client no answer, but only that it can name it later.
            this.#waiting -= text.length;
            if (this.#unwritten.get(file) === text) this.#unwritten.delete(file);
          }
        });
        this.#bytes += Math.max(text.length, BLOCK_BYTES);
        if (this.#bytes < this.#maxBytes / 4) return;
        this.#bytes = 0;
        void this.sweep().catch(() => undefined);
      },
      find: (id) => {
        const file = fileOf(id);
        try {
          const item: unknown = JSON.parse(this.#unwritten.get(file) ?? readFileSync(file, 'utf8'));
          const now = new Date();
          this.#later(() => utimes(file, now, now));
          return item;
        } catch {
          return undefined;
        }
      },
      remove: async (id) => {
        const file = fileOf(id);
        this.#unwritten.delete(file);
        await this.#disk.run(() => rm(file, { force: true }));
      },
    };
  }

  #later(work: () => Promise<void>): void {
    this.#disk.run(work).catch(() => undefined);
  }

  /** Resolves when all that was given until now is written. */
  async settled(): Promise<void> {
    await this.#disk.run(async () => {});
  }

  /** Removes what belongs to no key, is too old, or is beyond the limit, the oldest first. */
  async sweep(): Promise<void> {
    await this.settled();
    const kept: { readonly file: string; readonly bytes: number; readonly usedAt: number }[] = [];
    // Before the keys, so that one that is made meanwhile loses nothing.
    const found = await readdir(this.#folder).catch(() => []);
    const owners = new Set((await this.#keys.list()).map(({ id }) => nameOf(id)));
    for (const owner of found) {
      const folder = path.join(this.#folder, owner);
      if (!owners.has(owner)) await rm(folder, { recursive: true, force: true });
      else {
        for (const name of await readdir(folder).catch(() => [])) {
          const file = path.join(folder, name);
          const facts = await stat(file).catch(() => undefined);
          if (facts) kept.push({ file, bytes: Math.max(facts.size, BLOCK_BYTES), usedAt: facts.mtimeMs });
        }
      }
    }
    let bytes = 0;
    for (const one of kept.sort((a, b) => b.usedAt - a.usedAt)) {
      bytes += one.bytes;
      if (bytes > this.#maxBytes || Date.now() - one.usedAt > KEPT_MS) await rm(one.file, { force: true });
    }
  }
}

/** Ids may hold what file names may not. */
const nameOf = (id: string): string => createHash('sha256').update(id).digest('hex').slice(0, 32);
