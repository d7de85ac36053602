import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

/** The person's editor, as git asks for it; undefined where none is named. */
export function editorOf({ VISUAL, EDITOR }: NodeJS.ProcessEnv): string | undefined {
  return [VISUAL, EDITOR].find((editor) => editor !== undefined && editor.trim() !== '');
}

/**
 * Has a person change a text in an editor, in a file that only this person can read.
 * @param editor a command line of the shell, such as `code --wait` @param signal ends the editor
 * @throws Error with a sentence if the editor cannot be started or fails
 */
export async function editText(text: string, { editor, name, signal }: { readonly editor: string; readonly name: string; readonly signal: AbortSignal }): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'conductor-edit-'));
  try {
    const file = path.join(folder, name);
    await writeFile(file, text, { mode: 0o600 });
    const child = process.platform === 'win32'
      // cmd.exe, which also finds editors that are batch files, as VS Code's `code` is.
      ? spawn(`${editor} "${file}"`, { shell: true, stdio: 'inherit', signal })
      : spawn('/bin/sh', ['-c', `${editor} "$@"`, editor, file], { stdio: 'inherit', signal });
    const [code] = (await once(child, 'exit')) as [number | null];
    if (code !== 0) throw new Error(`The editor "${editor}" ended with ${code === null ? 'a signal' : `code ${code}`}: the plan is as it was.`);
    return await readFile(file, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
