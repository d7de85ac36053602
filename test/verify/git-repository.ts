import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';

export type Contents = string | Buffer | { readonly link: string } | null;

/** A real repository. Its Git knows nothing of the user's own configuration. */
export class GitRepository {
  readonly folder: string;

  constructor(folder: string, files: Readonly<Record<string, Contents>> = {}) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.git('init', '--quiet', '--initial-branch=main');
    if (Object.keys(files).length > 0) this.commit(files);
  }

  /** Returns what Git prints. */
  git(...args: string[]): string {
    return this.gitWith({}, ...args);
  }

  gitWith({ cwd = this.folder, input }: { readonly cwd?: string; readonly input?: string | Buffer }, ...args: string[]): string {
    return execFileSync('git', ['-c', 'protocol.file.allow=always', ...args], {
      cwd,
      input,
      encoding: 'utf8',
      maxBuffer: 64 * 1024 * 1024,
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env.PATH,
        GIT_CONFIG_GLOBAL: '/dev/null',
        GIT_CONFIG_NOSYSTEM: '1',
        ...Object.fromEntries(
          ['AUTHOR', 'COMMITTER'].flatMap((who) => [
            [`GIT_${who}_NAME`, 'Ada'],
            [`GIT_${who}_EMAIL`, 'ada@example.org'],
          ]),
        ),
      },
    });
  }

  /** Null deletes. */
  write(files: Readonly<Record<string, Contents>>): void {
    for (const [file, contents] of Object.entries(files)) {
      const absolute = path.join(this.folder, file);
      rmSync(absolute, { recursive: true, force: true });
      if (contents === null) continue;
      mkdirSync(path.dirname(absolute), { recursive: true });
      if (typeof contents === 'string' || Buffer.isBuffer(contents)) writeFileSync(absolute, contents);
      else symlinkSync(contents.link, absolute);
    }
  }

  commit(files: Readonly<Record<string, Contents>>): void {
    this.write(files);
    this.git('add', '--all', '--force');
    this.git('commit', '--quiet', '--message=work');
  }
}
