import { closeSync, mkdirSync, openSync, readSync } from 'node:fs';
import path from 'node:path';
import type * as Sqlite from 'node:sqlite';
import { JournalUnavailableError, NewerJournalError, NotAJournalError } from './errors.ts';
import { createTables, type FileKind, kindOfDatabase, migrate, SCHEMA_VERSION } from './schema.ts';

/** Looked up when a journal is opened, not imported: an import would end a Node that lacks it before it could say so. */
const sqlite = (): typeof Sqlite => process.getBuiltinModule('node:sqlite');

/** How long a writer waits for another process before it gives up. */
const LOCK_TIMEOUT_MS = 5_000;

export interface JournalFileOptions {
  /** True: what is written survives a power cut. False: it survives the end of the process only. */
  readonly isDurable: boolean;
  readonly lockTimeoutMs?: number | undefined;
}

/** SQLite's primary result codes (https://www.sqlite.org/rescode.html) of problems that a person can solve. */
const REASONS: Readonly<Record<number, string>> = {
  /* SQLITE_PERM */ 3: 'its file may not be read or written. Check the permissions of its folder.',
  /* SQLITE_BUSY */ 5: 'another process keeps it locked. Wait for that process, or end it, and try again.',
  /* SQLITE_READONLY */ 8: 'its file is read-only. Check the permissions of its folder.',
  /* SQLITE_IOERR */ 10: 'the disk reported an error. Check the disk and its free space.',
  /* SQLITE_CORRUPT */ 11: 'its file is damaged. Move it away to begin a new one.',
  /* SQLITE_FULL */ 13: 'the disk is full. Free some space and try again.',
  /* SQLITE_CANTOPEN */ 14: 'its file cannot be opened. Check that its folder exists and may be written.',
};
const SQLITE_NOT_A_DATABASE = 26;

/** How every SQLite database begins (https://www.sqlite.org/fileformat.html). */
const DATABASE_HEADER = Buffer.from('SQLite format 3\0');

/** Called once what was written is on disk; with the error when it never will be. */
export type OnDisk = (error?: unknown) => void;

/** What is written in one turn of the event loop and not on disk yet. */
interface Group {
  readonly told: OnDisk[];
  readonly end: NodeJS.Immediate;
}

/**
 * The open database: transactions, and SQLite's errors turned into sentences.
 *
 * A commit waits for the disk, which takes longer than anything else here. So what needs not be on disk at once is written in one
 * transaction with all else that is written before the event loop turns: nothing from outside can come in between.
 */
export class JournalFile {
  readonly file: string;
  readonly #database: Sqlite.DatabaseSync;
  #group: Group | undefined;
  #isWriting = false;

  /** @throws NotAJournalError, NewerJournalError, JournalUnavailableError; the file is then as it was. */
  constructor(file: string, { isDurable, lockTimeoutMs = LOCK_TIMEOUT_MS }: JournalFileOptions) {
    this.file = file;
    this.#database = openDatabase(file, lockTimeoutMs);
    try {
      this.#prepareFile(isDurable);
    } catch (error) {
      this.#database.close();
      throw this.#translate(error);
    }
  }

  prepare(sql: string): Sqlite.StatementSync {
    return this.#database.prepare(sql);
  }

  defineFunction(name: string, implementation: (...args: unknown[]) => number): void {
    this.#database.function(name, { deterministic: true }, implementation);
  }

  /**
   * Runs `work` with the write lock held. All of it is durable on return, with what waited to be, or nothing of it was written. A nested call
   * joins the outer one.
   */
  transaction<T>(work: () => T): T {
    if (this.#isWriting) return work();
    const result = this.#write(work);
    this.commit();
    return result;
  }

  /** As `transaction`, but durable at the end of this turn of the event loop, or before, when something else has to be; see `whenOnDisk`. */
  transactionSoon<T>(work: () => T): T {
    return this.#isWriting ? work() : this.#write(work);
  }

  /** Has what was written on disk on return. @throws JournalUnavailableError; then nothing of it was written */
  commit(): void {
    if (this.#isWriting || !this.#group) return;
    try {
      this.reading(() => this.#database.exec('COMMIT'));
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
      this.#settle(error);
      throw error;
    }
    this.#settle();
  }

  /** Calls `told` when all that was written is on disk or lost; at once where nothing waits. */
  whenOnDisk(told: OnDisk): void {
    if (this.#group) this.#group.told.push(told);
    else told();
  }

  /** Runs `work`; what SQLite throws in it becomes a JournalUnavailableError. */
  reading<T>(work: () => T): T {
    try {
      return work();
    } catch (error) {
      throw this.#translate(error);
    }
  }

  close(): void {
    if (!this.#database.isOpen) return;
    this.#commitAlone();
    this.#database.close();
  }

  /** Runs `work` in the open transaction, or in one that it opens. All of it is written, or nothing. */
  #write<T>(work: () => T): T {
    return this.reading(() => {
      const isFirst = !this.#group;
      this.#database.exec(isFirst ? 'BEGIN IMMEDIATE' : 'SAVEPOINT work');
      this.#isWriting = true;
      try {
        const result = work();
        if (isFirst) this.#group = { told: [], end: setImmediate(() => this.#commitAlone()) };
        else this.#database.exec('RELEASE work');
        return result;
      } catch (error) {
        // SQLite itself has already rolled back all after some errors, such as a full disk.
        if (!this.#database.isTransaction) this.#settle(this.#translate(error));
        else this.#database.exec(isFirst ? 'ROLLBACK' : 'ROLLBACK TO work; RELEASE work');
        throw error;
      } finally {
        this.#isWriting = false;
      }
    });
  }

  /** For nobody who could take the error: whoever wrote is told. */
  #commitAlone(): void {
    try {
      this.commit();
    } catch (error) {
      if (!(error instanceof JournalUnavailableError)) throw error;
    }
  }

  #settle(error?: unknown): void {
    const group = this.#group;
    if (!group) return;
    this.#group = undefined;
    clearImmediate(group.end);
    for (const told of group.told) told(error);
  }

  #prepareFile(isDurable: boolean): void {
    this.#checkKind();
    const [mode] = Object.values(this.#database.prepare('PRAGMA journal_mode = WAL').get() ?? {});
    if (mode !== 'wal') {
      throw new JournalUnavailableError(this.file, {
        reason: 'its file system cannot share a database between processes. Choose a folder on a local disk.',
      });
    }
    this.#database.exec(`PRAGMA synchronous = ${isDurable ? 'FULL' : 'OFF'}`);
    this.transaction(() => {
      const found = this.#checkKind();
      if (found.kind === 'empty') createTables(this.#database);
      else if (found.version < SCHEMA_VERSION) migrate(this.#database, found.version);
    });
  }

  #checkKind(): Exclude<FileKind, { kind: 'foreign' }> {
    const found = kindOfDatabase(this.#database);
    if (found.kind === 'foreign') throw new NotAJournalError(this.file);
    if (found.kind === 'journal' && found.version > SCHEMA_VERSION) {
      throw new NewerJournalError(this.file, found.version, SCHEMA_VERSION);
    }
    return found;
  }

  #translate(error: unknown): unknown {
    const resultCode = resultCodeOf(error);
    if (resultCode === undefined) return error;
    if (resultCode === SQLITE_NOT_A_DATABASE) return new NotAJournalError(this.file, { cause: error });
    const reason = REASONS[resultCode] ?? `SQLite says: ${(error as Error).message}.`;
    return new JournalUnavailableError(this.file, { reason, resultCode, cause: error });
  }
}

function openDatabase(file: string, lockTimeoutMs: number): Sqlite.DatabaseSync {
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    if (!isEmptyOrDatabase(file)) throw new NotAJournalError(file);
    return new (sqlite().DatabaseSync)(file, { timeout: lockTimeoutMs });
  } catch (cause) {
    if (cause instanceof NotAJournalError) throw cause;
    throw new JournalUnavailableError(file, {
      reason: 'its file cannot be opened. Check that its folder exists and may be written.',
      resultCode: resultCodeOf(cause),
      cause,
    });
  }
}

/**
 * Checks the file before SQLite opens it, because SQLite overwrites a file that is shorter than its header. Creates a missing file
 * readable by its owner alone, because it will hold questions, answers and parts of the workspace.
 */
function isEmptyOrDatabase(file: string): boolean {
  const descriptor = openSync(file, 'a+', 0o600);
  try {
    const start = Buffer.alloc(DATABASE_HEADER.length);
    const length = readSync(descriptor, start, 0, start.length, 0);
    return length === 0 || start.equals(DATABASE_HEADER);
  } finally {
    closeSync(descriptor);
  }
}

/** Primary result code of an error of node:sqlite, whose `errcode` is the extended one. */
function resultCodeOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number') return undefined;
  return error.errcode & 0xff;
}
