import type { ContextPiece } from './context.ts';

/** A longer list would not be read. */
const MAX_ENTRIES = 100;
const MAX_LISTED_LINES = 5;

/** What was requested but is not sent, without duplicates, in order of discovery. */
export class LeftOut {
  readonly #entries = new Map<string, { path: string; reason: string }>();

  add(path: string, reason: string): void {
    if (this.#entries.size < MAX_ENTRIES) this.#entries.set(JSON.stringify([path, reason]), { path, reason });
  }

  /** @param secrets the kind of secret that a line looks like, by line number from 1 */
  addSecrets({ path, startLine, endLine }: ContextPiece, secrets: ReadonlyMap<number, string>): void {
    const linesOf = new Map<string, number[]>();
    for (const [line, kind] of secrets) {
      if (line >= startLine && line <= endLine) linesOf.set(kind, [...(linesOf.get(kind) ?? []), line]);
    }
    for (const [kind, lines] of linesOf) {
      const listed = `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`;
      const label = lines.length > MAX_LISTED_LINES ? `${lines.length} lines from line ${lines[0]}` : listed;
      this.add(path, `${label}: looks like ${kind}`);
    }
  }

  get entries(): readonly { path: string; reason: string }[] {
    return [...this.#entries.values()];
  }
}
