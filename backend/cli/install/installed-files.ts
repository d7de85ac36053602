import { readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { replaceFile } from '../../common/replace-file.ts';

/** What a file was before and after Conductor wrote to it. */
const recordSchema = z.object({
  before: z.string().nullable(), after: z.string(),
  /** The topmost folder that was made for the file. */
  folder: z.string().optional(),
});
export type InstalledFile = z.infer<typeof recordSchema>;
const fileSchema = z.object({ version: z.literal(1), files: z.record(z.string(), recordSchema) });

/** The files that `conductor install` has written, by their path, so that they can be as they were before. */
export class InstalledFiles {
  readonly #file: string;

  /** @param home Conductor's folder, absolute */
  constructor(home: string) {
    this.#file = path.join(home, 'installed.json');
  }

  async get(file: string): Promise<InstalledFile | undefined> {
    return (await this.#read())[file];
  }

  async set(file: string, record: InstalledFile | undefined): Promise<void> {
    const { [file]: _old, ...others } = await this.#read();
    const files = record ? { ...others, [file]: record } : others;
    if (Object.keys(files).length === 0) await rm(this.#file, { force: true });
    else await replaceFile(this.#file, `${JSON.stringify({ version: 1, files }, undefined, 2)}\n`);
  }

  async #read(): Promise<Readonly<Record<string, InstalledFile>>> {
    try {
      return fileSchema.parse(JSON.parse(await readFile(this.#file, 'utf8'))).files;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {};
      throw new Error(`${this.#file} cannot be read; remove it to go on without what it remembers.`, { cause: error });
    }
  }
}
