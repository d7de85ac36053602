import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';
import { accountSchema, type Account } from '../../protocol/conversation.ts';

const keySchema = accountSchema.extend({ hash: z.string().regex(/^[0-9a-f]{64}$/) });
const fileSchema = z.object({ version: z.literal(1), keys: z.array(keySchema) });

export class DuplicateKeyError extends Error {}

const hashOf = (key: string): string => createHash('sha256').update(key).digest('hex');

/** The keys of programs that may use the endpoint. Only their hashes are kept. The file is read at each request, so a key is taken back at once. */
export class ClientKeys {
  readonly #file: string;

  /** @param home Conductor's folder, absolute */
  constructor(home: string) {
    this.#file = path.join(home, 'clients.json');
  }

  /** @returns the accounts, without their keys. @throws an error with a sentence if the file cannot be read */
  async list(): Promise<Account[]> {
    return (await this.#read()).map(({ hash: _hash, ...account }) => account);
  }

  /** @returns the key, which is not kept. @throws DuplicateKeyError */
  async add(name: string, maxUsd: number | undefined): Promise<string> {
    const keys = await this.#read();
    if (keys.some((one) => one.name === name)) throw new DuplicateKeyError(`There is a key for "${name}" already: remove it first, or choose another name.`);
    const key = `cond-${randomBytes(24).toString('base64url')}`;
    const id = `client-${randomBytes(6).toString('hex')}`;
    await this.#write([...keys, { id, name, hash: hashOf(key), ...(maxUsd !== undefined && { maxUsd }) }]);
    return key;
  }

  /** @returns whether there was one */
  async remove(name: string): Promise<boolean> {
    const keys = await this.#read();
    const others = keys.filter((one) => one.name !== name);
    if (others.length === keys.length) return false;
    await this.#write(others);
    return true;
  }

  /** Whose key it is; undefined for an unknown one. */
  async find(key: string): Promise<Account | undefined> {
    const hash = Buffer.from(hashOf(key), 'hex');
    let found: Account | undefined;
    for (const { hash: kept, ...account } of await this.#read()) if (timingSafeEqual(hash, Buffer.from(kept, 'hex'))) found = account;
    return found;
  }

  async #read(): Promise<z.infer<typeof fileSchema>['keys']> {
    let text: string;
    try {
      text = await readFile(this.#file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
      throw error;
    }
    try {
      return fileSchema.parse(JSON.parse(text)).keys;
    } catch (cause) {
      throw new Error(`${this.#file} cannot be read: mend or remove it.`, { cause });
    }
  }

  async #write(keys: z.infer<typeof fileSchema>['keys']): Promise<void> {
    await replaceFile(this.#file, `${JSON.stringify({ version: 1, keys }, undefined, 2)}\n`);
  }
}
