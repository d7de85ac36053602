import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';

const keptSchema = z.looseObject({ version: z.literal(1), hash: z.string().regex(/^[0-9a-f]{64}$/), id: z.string().min(1).max(64), name: z.string().min(1).max(64) });
type Kept = z.infer<typeof keptSchema>;

/** Whose key it is. */
export interface KeyHolder {
  /** Unique, also after another key of the same name. */
  readonly id: string;
  readonly name: string;
}

interface Known<Notes> {
  readonly hash: string;
  readonly holder: KeyHolder & Notes;
}

/** File systems tell times no finer than this. */
const SETTLED_NS = 2_000_000_000n;

export class DuplicateKeyError extends Error {}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Keys that others show, each in a file of one folder that is named after its holder, so that two that are made at once do not lose one another. Only
 * hashes of keys are kept. At each request it is looked whether the folder was changed, so a key is taken back at once, and without a wait for other
 * threads, which would take longer than the reading.
 */
export class HashedKeys<Notes extends object = Record<never, never>> {
  readonly #folder: string;
  readonly #idPrefix: string;
  readonly #notes: z.ZodType<Notes>;
  #known: { readonly changedAt: bigint; readonly keys: readonly Known<Notes>[] } | undefined;

  /** @param folder absolute. @param notes what else is kept of a holder, which has no `id`, `name`, `hash` or `version` */
  constructor(folder: string, { idPrefix, notes }: { readonly idPrefix: string; readonly notes: z.ZodType<Notes> }) {
    this.#folder = folder;
    this.#idPrefix = idPrefix;
    this.#notes = notes;
  }

  /** @returns the holders by name, without their keys. @throws an error with a sentence if a file cannot be read */
  async list(): Promise<(KeyHolder & Notes)[]> {
    return this.#read().map(({ holder }) => holder).sort((a, b) => a.name.localeCompare(b.name));
  }

  /** @returns the key, which is not kept. @throws DuplicateKeyError */
  async add(name: string, notes: Notes): Promise<string> {
    const key = `cond-${randomBytes(24).toString('base64url')}`;
    const id = `${this.#idPrefix}-${randomBytes(6).toString('hex')}`;
    const kept: Kept = { version: 1, id, name, hash: hashOf(key), ...notes };
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const written = path.join(this.#folder, `.${id}.tmp`);
    try {
      await writeFile(written, `${JSON.stringify(kept, undefined, 2)}\n`, { flag: 'wx', mode: 0o600, flush: true });
      // Fails where the name is taken, and shows nobody half of a file.
      await link(written, this.#file(name));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      throw new DuplicateKeyError(`There is a key for "${name}" already: remove it first, or choose another name.`);
    } finally {
      await rm(written, { force: true });
    }
    return key;
  }

  /** @returns whether there was one */
  async remove(name: string): Promise<boolean> {
    try {
      await rm(this.#file(name));
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw error;
    }
  }

  /** Whose key it is; undefined for an unknown one. */
  async find(key: string): Promise<(KeyHolder & Notes) | undefined> {
    const hash = Buffer.from(hashOf(key), 'hex');
    return this.#read().findLast(({ hash: kept }) => timingSafeEqual(hash, Buffer.from(kept, 'hex')))?.holder;
  }

  /** Names may hold what file names may not. */
  #file(name: string): string {
    return path.join(this.#folder, `${hashOf(name).slice(0, 32)}.json`);
  }

  #read(): readonly Known<Notes>[] {
    const changedAt = changeOf(this.#folder);
    if (this.#known && this.#known.changedAt === changedAt) return this.#known.keys;
    const keys = this.#readAll();
    // Two changes at once may have one time, of which the second came after the reading.
    const isOld = changedAt !== undefined && BigInt(Date.now()) * 1_000_000n - changedAt > SETTLED_NS;
    this.#known = isOld ? { changedAt, keys } : undefined;
    return keys;
  }

  #readAll(): Known<Notes>[] {
    return namesIn(this.#folder).filter((name) => name.endsWith('.json')).flatMap((name) => this.#readKey(path.join(this.#folder, name)) ?? []);
  }

  /** Undefined if it was removed meanwhile. @throws an error with a sentence for a file that is not a key */
  #readKey(file: string): Known<Notes> | undefined {
    try {
      const { version: _version, hash, id, name, ...notes } = keptSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
      return { hash, holder: { id, name, ...this.#notes.parse(notes) } };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw new Error(`${file} cannot be read: mend or remove it.`, { cause: error });
    }
  }
}

/** When a file of the folder was last added or removed; undefined for no folder. */
function changeOf(folder: string): bigint | undefined {
  return statSync(folder, { bigint: true, throwIfNoEntry: false })?.mtimeNs;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}
