import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, rm, utimes } from 'node:fs/promises';
import path from 'node:path';
import { replaceFile } from '../../common/replace-file.ts';
import { bytesOf, contentOf, type IndexContent } from './index-bytes.ts';

/** A larger index is not kept. */
const MAX_BYTES = 96 * 1024 * 1024;
/** Those that were used longest ago go. */
const MAX_KEPT = 8;
const MAX_AGE_MS = 30 * 24 * 60 * 60_000;
/** An index, or what a write that was killed has left of one. */
const NAME = /^(?:[0-9a-f]{32}\.index|\.[0-9a-f]{32}\.index\..*\.tmp)$/;

export interface IndexFolderOptions {
  /** Absolute. Made when it is needed, readable only by its owner. */
  readonly folder: string;
  /** An index that another version has written is made anew. */
  readonly version: string;
  readonly log: (line: string) => void;
}

/** The indexes of the last workspaces on disk, so that the first question after a start need not wait for a new one. What cannot be read is as if it were not there. */
export class IndexFolder {
  readonly #options: IndexFolderOptions;

  constructor(options: IndexFolderOptions) {
    this.#options = options;
  }

  /** @param root of the workspace, absolute, links resolved */
  async load(root: string): Promise<IndexContent | undefined> {
    const file = this.#fileOf(root);
    try {
      const status = await lstat(file);
      if (!status.isFile() || status.size > MAX_BYTES) return undefined;
      const content = await contentOf(this.#keyOf(root), await readFile(file));
      const now = new Date();
      if (content) await utimes(file, now, now);
      return content;
    } catch {
      return undefined;
    }
  }

  /** Never throws: what could not be kept is made anew next time. */
  async save(root: string, content: IndexContent): Promise<void> {
    const { folder, log } = this.#options;
    try {
      const bytes = await bytesOf(this.#keyOf(root), content);
      if (bytes.length > MAX_BYTES) return;
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await replaceFile(this.#fileOf(root), async (handle) => handle.writeFile(bytes), { isDurable: false });
      await this.#prune();
    } catch (error) {
      log(`The index of ${root} could not be kept: ${error instanceof Error ? error.message : String(error)}`);
    }
  }

  async #prune(): Promise<void> {
    const { folder } = this.#options;
    const files = await Promise.all((await readdir(folder)).filter((name) => NAME.test(name)).map(async (name) => {
      const file = path.join(folder, name);
      return { file, usedAt: (await lstat(file)).mtimeMs };
    }));
    files.sort((a, b) => b.usedAt - a.usedAt);
    for (const [index, { file, usedAt }] of files.entries()) {
      if (index >= MAX_KEPT || Date.now() - usedAt > MAX_AGE_MS) await rm(file, { force: true });
    }
  }

  #fileOf(root: string): string {
    return path.join(this.#options.folder, `${createHash('sha256').update(root).digest('hex').slice(0, 32)}.index`);
  }

  #keyOf(root: string): string {
    return JSON.stringify([this.#options.version, root]);
  }
}
