import { DatabaseSync } from 'node:sqlite';
import type { AnswerStore } from '../../workers/answer-cache.ts';

/** Workers' answers in an SQLite file (absolute path), where a resumed training finds them. @throws SQLite's errors */
export class AnswerFile implements AnswerStore {
  readonly #database: DatabaseSync;
  readonly #get;
  readonly #set;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    // A power cut can lose answers, which are then paid for again; a killed process loses none.
    this.#database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE IF NOT EXISTS answers (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
    `);
    this.#get = this.#database.prepare('SELECT value FROM answers WHERE key = ?');
    this.#set = this.#database.prepare('INSERT OR REPLACE INTO answers (key, value) VALUES (?, ?)');
  }

  get(key: string): string | undefined {
    const row = this.#get.get(key) as { value: string } | undefined;
    return row?.value;
  }

  set(key: string, value: string): void {
    this.#set.run(key, value);
  }

  close(): void {
    this.#database.close();
  }
}
