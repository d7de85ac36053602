import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { link, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { accountSchema, type Account } from '../../protocol/conversation.ts';

const keySchema = accountSchema.extend({ version: z.literal(1), hash: z.string().regex(/^[0-9a-f]{64}$/) });

export class DuplicateKeyError extends Error {}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * The keys of programs that may use the endpoint, each in a file that is named after its program, so that two that are made at once do not lose one
 * another. Only hashes of keys are kept. The files are read at each request, so a key is taken back at once, and without a wait for other threads,
 * which would take longer than the reading.
 */
export class ClientKeys {
  readonly #folder: string;

  /** @param home Conductor's folder, absolute */
  constructor(home: string) {
    this.#folder = path.join(home, 'clients');
  }

  /** @returns the accounts by name, without their keys. @throws an error with a sentence if a file cannot be read */
  async list(): Promise<Account[]> {
    const keys = this.#read();
    return keys.map(({ hash: _hash, version: _version, ...account }) => account).sort((a, b) => a.name.localeCompare(b.name));
  }

  /** @returns the key, which is not kept. @throws DuplicateKeyError */
  async add(name: string, maxUsd: number | undefined): Promise<string> {
    const key = `cond-${randomBytes(24).toString('base64url')}`;
    const id = `client-${randomBytes(6).toString('hex')}`;
    const kept: z.infer<typeof keySchema> = { version: 1, id, name, hash: hashOf(key), ...(maxUsd !== undefined && { maxUsd }) };
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
  async find(key: string): Promise<Account | undefined> {
    const hash = Buffer.from(hashOf(key), 'hex');
    let found: Account | undefined;
    for (const { hash: kept, version: _version, ...account } of this.#read()) if (timingSafeEqual(hash, Buffer.from(kept, 'hex'))) found = account;
    return found;
  }

  /** Names may hold what file names may not. */
  #file(name: string): string {
    return path.join(this.#folder, `${hashOf(name).slice(0, 32)}.json`);
  }

  #read(): z.infer<typeof keySchema>[] {
    return namesIn(this.#folder).filter((name) => name.endsWith('.json')).map((name) => readKey(path.join(this.#folder, name))).filter((key) => key !== undefined);
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** Undefined if it was removed meanwhile. @throws an error with a sentence for a file that is not a key */
function readKey(file: string): z.infer<typeof keySchema> | undefined {
  try {
    return keySchema.parse(JSON.parse(readFileSync(file, 'utf8')));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new Error(`${file} cannot be read: mend or remove it.`, { cause: error });
  }
}
