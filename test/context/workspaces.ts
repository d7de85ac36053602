import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { rgPath } from '@vscode/ripgrep';
import { onTestFinished } from 'vitest';
import type { ContextRequest, GatheredContext } from '../../backend/context/context.ts';
import { ContextGatherer } from '../../backend/context/gather-context.ts';

export type Files = Readonly<Record<string, string | Buffer>>;

export function temporaryFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'context-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A folder with these files, which goes when the test is over. */
export function workspaceWith(files: Files): string {
  const folder = temporaryFolder();
  writeFiles(folder, files);
  return folder;
}

export function writeFiles(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Gathers with the real ripgrep. */
export function gather(workspace: string | undefined, request: Partial<ContextRequest>): Promise<GatheredContext> {
  return new ContextGatherer({ ripgrepPath: rgPath }).gather({
    question: '', files: [], diagnostics: [], tokenBudget: 4_000, signal: new AbortController().signal, ...request, workspace,
  });
}

/** `path:start-end` of every piece. */
export function places({ pieces }: GatheredContext): string[] {
  return pieces.map(({ path: file, startLine, endLine }) => `${file}:${startLine}-${endLine}`);
}

export function paths({ pieces }: GatheredContext): string[] {
  return pieces.map((piece) => piece.path);
}

/** Lines `<prefix> 1` to `<prefix> <count>`. */
export function numbered(count: number, prefix = 'line'): string {
  return Array.from({ length: count }, (_, index) => `${prefix} ${index + 1}\n`).join('');
}
