import path from 'node:path';
import { HashedKeys } from '../common/hashed-keys.ts';
import { accountSchema, type Account } from '../protocol/conversation.ts';

const notesSchema = accountSchema.pick({ maxUsd: true });

/** The keys of programs that may use the endpoint. */
export class ClientKeys {
  readonly #keys: HashedKeys<Pick<Account, 'maxUsd'>>;

  /** @param home Conductor's folder, absolute */
  constructor(home: string) {
    this.#keys = new HashedKeys(path.join(home, 'clients'), { idPrefix: 'client', notes: notesSchema });
  }

  /** @returns the accounts by name, without their keys. @throws an error with a sentence if a file cannot be read */
  list(): Promise<Account[]> {
    return this.#keys.list();
  }

  /** @returns the key, which is not kept. @throws DuplicateKeyError */
  add(name: string, maxUsd: number | undefined): Promise<string> {
    return this.#keys.add(name, maxUsd === undefined ? {} : { maxUsd });
  }

  /** @returns whether there was one */
  remove(name: string): Promise<boolean> {
    return this.#keys.remove(name);
  }

  /** Whose key it is; undefined for an unknown one. */
  find(key: string): Promise<Account | undefined> {
    return this.#keys.find(key);
  }
}
