import * as z from 'zod';
import { replaceFile } from '../common/replace-file.ts';
import type { SuggestOutcome } from '../protocol/suggestions.ts';
import { readJsonFile } from '../workers/read-json-file.ts';

/** How often suggestions of a worker were shown in a language of a project, and how often they were accepted. */
const countSchema = z.object({
  workspace: z.string(),
  language: z.string(),
  worker: z.string(),
  shown: z.number().nonnegative(),
  accepted: z.number().nonnegative(),
});
export type OutcomeCount = z.infer<typeof countSchema>;

const fileSchema = z.object({ version: z.literal(1), counts: z.array(countSchema) });

/** Enough for hundreds of projects; those that were not used for longest go first. */
const MAX_COUNTS = 1_000;
/** From here on, both counts are halved: what was accepted last counts most. */
const MAX_SHOWN = 400;
/** Every suggestion is counted; the file is written this often. */
const WRITE_AFTER_MS = 2_000;

export interface OutcomesFileOptions {
  readonly path: string;
  readonly log: (line: string) => void;
  /** Calls back once, later. @returns a function that prevents it */
  readonly later?: (callBack: () => void) => () => void;
}

/** The counts on disk. Nothing of a suggestion itself is kept. An unreadable file is begun anew. */
export class OutcomesFile {
  readonly #options: OutcomesFileOptions;
  #counts: Promise<readonly OutcomeCount[]> | undefined;
  #written: Promise<void> = Promise.resolve();
  #cancelWriting: (() => void) | undefined;

  constructor(options: OutcomesFileOptions) {
    this.#options = options;
  }

  async in({ workspace, language }: Pick<OutcomeCount, 'workspace' | 'language'>): Promise<readonly OutcomeCount[]> {
    const counts = await this.#read();
    return counts.filter((count) => count.workspace === workspace && count.language === language);
  }

  async add({ workspace, language, worker, accepted }: SuggestOutcome): Promise<void> {
    const before = this.#read();
    this.#counts = before.then((counts) => {
      const isOne = (count: OutcomeCount): boolean => count.workspace === workspace && count.language === language && count.worker === worker;
      const one = counts.find(isOne) ?? { workspace, language, worker, shown: 0, accepted: 0 };
      const counted = { ...one, shown: one.shown + 1, accepted: one.accepted + (accepted ? 1 : 0) };
      const kept = counted.shown > MAX_SHOWN ? { ...counted, shown: counted.shown / 2, accepted: counted.accepted / 2 } : counted;
      return [...counts.filter((count) => !isOne(count)), kept].slice(-MAX_COUNTS);
    });
    await this.#counts;
    const { later = laterBy(WRITE_AFTER_MS) } = this.#options;
    this.#cancelWriting ??= later(() => {
      this.flush().catch((error: unknown) => this.#options.log(String(error)));
    });
  }

  async forget(): Promise<void> {
    this.#counts = Promise.resolve([]);
    await this.#write();
  }

  /** Writes what was counted since it was last written. */
  async flush(): Promise<void> {
    if (this.#cancelWriting) await this.#write();
    await this.#written;
  }

  async #write(): Promise<void> {
    this.#cancelWriting?.();
    this.#cancelWriting = undefined;
    // In order, so that an older list never replaces a newer one.
    this.#written = this.#written.then(async () => {
      try {
        await replaceFile(this.#options.path, `${JSON.stringify({ version: 1, counts: await this.#read() }, null, 2)}\n`);
      } catch (error) {
        this.#options.log(`Which suggestions were accepted was not kept: ${String(error)}`);
      }
    });
    await this.#written;
  }

  #read(): Promise<readonly OutcomeCount[]> {
    return (this.#counts ??= readJsonFile(this.#options.path, fileSchema).then((file) => file?.counts ?? [], (error: unknown) => {
      this.#options.log(`Which suggestions were accepted is counted anew: ${String(error)}`);
      return [];
    }));
  }
}

function laterBy(ms: number): NonNullable<OutcomesFileOptions['later']> {
  return (callBack) => {
    const timer = setTimeout(callBack, ms);
    // It does not keep the backend alive: closing writes, too.
    timer.unref();
    return () => clearTimeout(timer);
  };
}
