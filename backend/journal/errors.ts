/** The file is something else: a database of another program, or no database. It is left as it was. */
export class NotAJournalError extends Error {
  override readonly name = 'NotAJournalError';
  readonly file: string;

  constructor(file: string, options?: ErrorOptions) {
    super(`"${file}" is not a journal of Conductor and was left as it is: move it away, or name another folder.`, options);
    this.file = file;
  }
}

/** A later version of Conductor has written the file. It is left as it was. */
export class NewerJournalError extends Error {
  override readonly name = 'NewerJournalError';
  readonly file: string;
  readonly version: number;

  constructor(file: string, version: number, known: number) {
    super(`The journal "${file}" has version ${version}, and this Conductor reads up to version ${known}: update Conductor.`);
    this.file = file;
    this.version = version;
  }
}

/** SQLite failed; nothing of the operation was written. */
export class JournalUnavailableError extends Error {
  override readonly name = 'JournalUnavailableError';
  readonly file: string;
  /** SQLite's primary result code (https://www.sqlite.org/rescode.html), where the error is SQLite's. */
  readonly resultCode: number | undefined;

  constructor(file: string, { reason, resultCode, cause }: { reason: string; resultCode?: number | undefined; cause?: unknown }) {
    super(`The journal "${file}" cannot be used: ${reason}`, { cause });
    this.file = file;
    this.resultCode = resultCode;
  }
}

/** An event of the run is damaged. Other runs are not affected. */
export class UnreadableRunError extends Error {
  override readonly name = 'UnreadableRunError';
  readonly runId: string;
  readonly seq: number;

  constructor(runId: string, seq: number, reason: string, options?: ErrorOptions) {
    super(`Run "${runId}" cannot be read: its event ${seq} is damaged (${reason}). Other runs are not concerned.`, options);
    this.runId = runId;
    this.seq = seq;
  }
}

/** The journal has no such run, or already has one with the id of a new run. */
export class RunIdentityError extends Error {
  override readonly name = 'RunIdentityError';
  readonly runId: string;

  constructor(runId: string, message: string) {
    super(message);
    this.runId = runId;
  }
}

/** Another process holds the run now: the caller must stop working on it. Nothing was written. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
  readonly runId: string;

  constructor(runId: string) {
    super(`Run "${runId}" is being worked on by another process of Conductor.`);
    this.runId = runId;
  }
}

/** A reservation was settled or released twice, or does not exist: a bug in the caller. Nothing was written. */
export class ReservationClosedError extends Error {
  override readonly name = 'ReservationClosedError';
  readonly reservationId: string;

  constructor(reservationId: string) {
    super(`The budget reservation "${reservationId}" is not open.`);
    this.reservationId = reservationId;
  }
}
