import { lstat, mkdir, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { counted } from '../common/counted.ts';
import { replaceFile } from '../common/replace-file.ts';
import type { Ripgrep } from '../context/ripgrep.ts';
import { isSecretFile } from '../common/secrets/secret-files.ts';
import { redact } from '../common/secrets/secrets.ts';
import { tokensOf } from '../context/tokens.ts';
import type { FileChange } from '../protocol/file-change.ts';
import type { ContextPiece } from '../protocol/run-events.ts';
import type { TestCommand } from '../protocol/test-command.ts';
import type { Base } from '../verify/base-tests.ts';
import type { CopyPool, LeasedCopy, WorkspaceSnapshot } from '../verify/copies/copy-pool.ts';
import { whyItChangesTests } from '../verify/patch/added-tests.ts';
import { isPathOfTest, protectedReason } from '../verify/files/protected-paths.ts';
import type { RunFolder } from '../verify/files/run-folder.ts';
import { likeOriginal, MAX_FILE_BYTES, readTextFile, toPlainText } from '../verify/files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../verify/files/workspace-path.ts';
import { PatchNotApplicableError } from '../verify/patch/apply-patch.ts';
import type { FileEdit } from '../verify/patch/patch.ts';
import { applyReplacement, type Replacement } from '../verify/patch/replace-blocks.ts';
import type { Sandbox } from '../verify/sandbox/sandbox.ts';
import { binFolders } from '../verify/runners/javascript-project.ts';
import type { Surroundings } from '../verify/runners/surroundings.ts';
import type { Verifier } from '../verify/verify.ts';
import type { AgentPlace } from '../workers/model.ts';
import { ChangedFiles } from './changed-files.ts';
import type { Command } from './command.ts';
import type { CommandsElsewhere } from './commands-elsewhere.ts';
import { changed, changeOf } from './file-changes.ts';
import { placeInCopy } from './place-in-copy.ts';
import { runCommand } from './run-command.ts';
import { searchCopy } from './search-copy.ts';
import { shown } from './show.ts';
import { testsInWords } from './tests-in-words.ts';

export interface StepCopyOptions {
  /** What it is a copy of: a workspace, or the base of a training's task. The step sees neither of its folders. */
  readonly of: Base;
  /** How the project's tests are run; undefined where there are none. */
  readonly test: TestCommand | undefined;
  /** The question asks for tests: files with new ones may be made. */
  readonly newTests: boolean;
  /** Where commands run; in the copy itself by default. */
  readonly elsewhere?: CommandsElsewhere | undefined;
  readonly parts: {
    readonly copies: CopyPool; readonly sandbox: Pick<Sandbox, 'run'>; readonly ripgrep: Ripgrep;
    readonly verifier: Pick<Verifier, 'tryTests' | 'surroundings'>;
  };
  readonly snapshot: WorkspaceSnapshot;
  readonly copy: LeasedCopy;
  readonly folder: RunFolder;
  /** @param isReusable whether no process can write to the copy any more */
  readonly release: (isReusable: boolean) => Promise<void>;
}

/** What a command gave, as its worker is told. */
export interface Done {
  readonly text: string;
  /** Lines of the project that the text shows. */
  readonly pieces?: readonly ContextPiece[];
}

const MAX_LINES = 400;
/** For a look at the files of a copy. */
const LOOK_MS = 60_000;
/** The kernel takes 128 KiB in one variable, and quotes take room. */
const MAX_COMMAND_BYTES = 32 * 1024;
/** Of all changed files of a step together. Its change is handed on in prompts. */
const MAX_CHANGED_FILES = 100;
/** Of all of them together, before or after: each turn is journalled. */
const MAX_CHANGED_CHARACTERS = 4 * 1024 * 1024;

/**
 * The private copy in which a step works. Its change is what differs from the base in text files that an answer may change. All that
 * comes from its worker is untrusted: paths stay inside, links are not followed, results are bounded and redacted.
 */
export class StepCopy {
  readonly #options: StepCopyOptions;
  readonly #changedFiles: ChangedFiles;
  /** Files that are not as in the base. */
  readonly #edits = new Map<string, FileEdit>();
  readonly #hidden = new Set<string>();
  /** The texts of the files that the base's own edits changed. */
  readonly #ofBase: ReadonlyMap<string, string | null>;
  /** The files of the base. */
  readonly #paths: ReadonlySet<string>;
  #isReusable = true;

  constructor(options: StepCopyOptions) {
    this.#options = options;
    const { copy, snapshot, parts, of: { baseEdits = [] } } = options;
    this.#ofBase = new Map(baseEdits.map(({ path: file, after }) => [file, after]));
    this.#paths = new Set([...snapshot.paths, ...this.#ofBase.keys()].filter((file) => this.#ofBase.get(file) !== null));
    this.#changedFiles = new ChangedFiles(copy.folder, this.#paths, parts.ripgrep);
  }

  /** The folders with the files that the copy was made of. A training's task holds the answer there. */
  get #originals(): readonly string[] {
    const { base, installed } = this.#options.of;
    return [...new Set([base, installed ?? base])];
  }

  get #folder(): string {
    return this.#options.copy.folder;
  }

  /** What the step has changed, by path. */
  get edits(): readonly FileEdit[] {
    return [...this.#edits.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  }

  /** Takes files out of the copy that are never sent. They are no part of its change. */
  async hide(paths: readonly string[]): Promise<void> {
    for (const file of paths) {
      this.#hidden.add(file);
      await rm(path.join(this.#folder, file), { force: true });
    }
  }

  /** Makes changes that were made before. @returns the paths of those that do not fit any more */
  async redo(changes: readonly FileChange[]): Promise<string[]> {
    const lost: string[] = [];
    for (const change of changes) {
      const found = this.#refusal(change.path) === undefined ? await this.#base(change.path) : undefined;
      const after = found === undefined ? undefined : changed(found, change);
      if (after === undefined) lost.push(change.path);
      else await this.#write(change.path, after);
    }
    return lost;
  }

  /** Sets the text of a file; null removes it. @returns why it may not be */
  async set(file: string, after: string | null): Promise<string | undefined> {
    const refusal = this.#refusal(file) ?? (await refusalOnDisk(this.#folder, file)) ?? (await this.#whyItChangesTests(file, after));
    if (refusal !== undefined) return refusal;
    if (after !== null && Buffer.byteLength(after) > MAX_FILE_BYTES) return `The file would be larger than ${MAX_FILE_BYTES / 1024} KiB.`;
    if (after?.includes('\0')) return 'The new content is not text.';
    const tooMuch = this.#tooMuch(file, after);
    if (tooMuch !== undefined) return tooMuch;
    await this.#write(file, after);
    return undefined;
  }

  /** The text of a file as it is now; null if there is none, undefined if it cannot be changed. */
  async text(file: string): Promise<string | null | undefined> {
    if (this.#hidden.has(file) || (await refusalOnDisk(this.#folder, file)) !== undefined) return undefined;
    const found = await readTextFile(this.#folder, file);
    return found.kind === 'text' ? found.text : found.kind === 'absent' ? null : undefined;
  }

  /** Does a command. @throws the signal's reason, and errors of the machine */
  async do(command: Command, signal: AbortSignal): Promise<Done> {
    signal.throwIfAborted();
    switch (command.kind) {
      case 'read':
        return await this.#read(command);
      case 'search':
        return { text: shown(await searchCopy(this.#options.parts.ripgrep, this.#folder, command, signal)) };
      case 'edit':
        return { text: await this.#edit(command) };
      case 'create':
        return { text: await this.#create(command) };
      case 'delete':
        return { text: await this.#delete(command) };
      case 'run':
        return { text: await this.#run(command.command, signal) };
      case 'test':
        return { text: await this.#test(signal) };
      case 'unreadable':
        return { text: `Not done: ${shown(command.reason, 500)}` };
    }
  }

  /**
   * Lends the copy to an agent, which works in it with tools of its own. Nothing else may be done in the copy until `ended` was called.
   * @param onLeft called with what is no part of the step's change, one sentence for each file
   */
  async lend(signal: AbortSignal, onLeft: (left: readonly string[]) => void): Promise<AgentPlace> {
    const { copy, folder, of, parts } = this.#options;
    await this.#changedFiles.look(signal);
    // Another version of Node than that of PATH might not run the agent itself.
    const around = await parts.verifier.surroundings({ ...of, signal }, { command: '', copy: copy.folder, tools: folder.tools });
    this.#isReusable = false;
    return {
      folder: copy.folder, hidden: this.#originals, readable: [...copy.sharedFolders, folder.tools, ...around.readable],
      // Among the programs of packages there may be a Node, which the agent itself would be started with.
      programFolders: around.programFolders.filter((programs) => !programs.endsWith(path.join('node_modules', '.bin'))), environment: around.environment,
      ended: async () => {
        this.#isReusable = true;
        // What it did until a person stopped it is handed on, too.
        onLeft((await this.#differing(AbortSignal.timeout(LOOK_MS))).left);
      },
    };
  }

  async release(): Promise<void> {
    await this.#options.release(this.#isReusable);
  }

  async #read({ path: written, from = 1, to }: Extract<Command, { kind: 'read' }>): Promise<Done> {
    const place = await placeInCopy(this.#folder, this.#inCopy(written));
    if ('refused' in place) return refused(written, place.refused);
    const { path: file, kind } = place;
    if (this.#hidden.has(file) || isSecretFile(file)) return refused(file, 'It is not shown: it may hold secrets.');
    if (kind === 'folder') return await this.#list(file);
    const found = await readTextFile(this.#folder, file);
    if (found.kind === 'absent') return refused(file, 'There is no such file.');
    if (found.kind === 'refused') return refused(file, found.reason);
    // The whole file is looked at: a part of a key does not look like one.
    const lines = [...redact(toPlainText(found.text).split('\n')).lines];
    if (lines.at(-1) === '') lines.pop();
    const start = Math.min(from, Math.max(1, lines.length));
    const end = Math.min(lines.length, Math.max(start, to ?? lines.length), start + MAX_LINES - 1);
    const part = shown(lines.slice(start - 1, end).map((line, index) => `${start + index}\t${line}`).join('\n'));
    const more = end < lines.length && end < (to ?? lines.length) ? `\n[${counted(lines.length, 'line')} in all: ask for more by their numbers]` : '';
    const of = lines.length === 0 ? 'is empty' : `lines ${start} to ${end} of ${lines.length}`;
    return {
      text: `${file}, ${of}:\n${part}${more}`,
      ...(end >= start && { pieces: [{ path: file, startLine: start, endLine: end, reason: 'read by the worker', tokens: tokensOf(part) }] }),
    };
  }

  /** @param folder that is there; relative, empty for the copy itself */
  async #list(folder: string): Promise<Done> {
    const entries = await readdir(path.join(this.#folder, folder), { withFileTypes: true }).catch(() => undefined);
    if (!entries) return refused(folder, 'The folder cannot be read.');
    const names = entries.map((entry) => `${entry.name}${entry.isDirectory() ? '/' : ''}`).sort();
    return { text: shown(`${folder || '.'} holds:\n${names.join('\n')}`) };
  }

  async #edit({ path: written, replacements }: Extract<Command, { kind: 'edit' }>): Promise<string> {
    const file = this.#checked(written);
    if ('refused' in file) return notDone(written, file.refused);
    const text = await this.text(file.path);
    if (text === undefined) return notDone(file.path, (await refusalOnDisk(this.#folder, file.path)) ?? 'It cannot be read as text.');
    if (text === null) return notDone(file.path, 'There is no such file. A new file is made with "create".');
    let now = toPlainText(text);
    for (const replacement of replacements) {
      const result = replaced(now, replacement);
      if ('reason' in result) return notDone(file.path, `${result.reason} Nothing was changed.`);
      now = result.text;
    }
    const after = likeOriginal(now, text);
    if (after === text) return notDone(file.path, 'The edit changes nothing.');
    const refusal = await this.set(file.path, after);
    return refusal === undefined ? `Done: ${file.path} is changed.` : notDone(file.path, refusal);
  }

  async #create({ path: written, content }: Extract<Command, { kind: 'create' }>): Promise<string> {
    const file = this.#checked(written);
    if ('refused' in file) return notDone(written, file.refused);
    const there = await lstat(path.join(this.#folder, file.path)).catch(() => undefined);
    if (there) return notDone(file.path, 'It exists already. Change it with "edit", or delete it first.');
    const refusal = await this.set(file.path, content);
    return refusal === undefined ? `Done: ${file.path} is there.` : notDone(file.path, refusal);
  }

  async #delete({ path: written }: Extract<Command, { kind: 'delete' }>): Promise<string> {
    const file = this.#checked(written);
    if ('refused' in file) return notDone(written, file.refused);
    const text = await this.text(file.path);
    if (text === null) return notDone(file.path, 'There is no such file.');
    if (text === undefined) return notDone(file.path, (await refusalOnDisk(this.#folder, file.path)) ?? 'It is no text file.');
    const refusal = await this.set(file.path, null);
    return refusal === undefined ? `Done: ${file.path} is gone.` : notDone(file.path, refusal);
  }

  async #run(command: string, signal: AbortSignal): Promise<string> {
    if (command.trim() === '') return 'Not done: the command is empty.';
    if (command.includes('\0') || Buffer.byteLength(command) > MAX_COMMAND_BYTES) return 'Not done: a command is text of at most 32 KiB. Write a file with "create" first.';
    const { parts, copy, folder, test, elsewhere } = this.#options;
    if (elsewhere) return await this.#runElsewhere(elsewhere, command, signal);
    await this.#changedFiles.look(signal);
    // For a moment after a kill, a process may still write.
    this.#isReusable = false;
    const around = await this.#surroundings(command, signal);
    const said = await runCommand({ sandbox: parts.sandbox, copy, folder, around, hidden: this.#originals, image: test?.image, signal });
    this.#isReusable = true;
    const notes = await this.#takeChanges(signal);
    return [shown(said), ...notes].join('\n');
  }

  /** The command has the change so far, and the copy takes over what it makes of it. */
  async #runElsewhere(elsewhere: CommandsElsewhere, command: string, signal: AbortSignal): Promise<string> {
    const { said, files, left = [] } = await elsewhere.run(command, this.edits, signal);
    if (!files) return shown(said);
    const before = new Map(this.edits.map((edit) => [edit.path, edit]));
    const now = new Map([...this.edits.map((edit) => [edit.path, edit.before] as const), ...files]);
    const [taken, notTaken]: [string[], string[]] = [[], [...left]];
    for (const [file, after] of now) {
      if ((before.has(file) ? before.get(file)?.after : undefined) === after) continue;
      const checked = this.#checked(file);
      const why = 'refused' in checked ? checked.refused : await this.set(checked.path, after);
      if (why === undefined) taken.push(file);
      else notTaken.push(`${file}: ${why}`);
    }
    return [
      shown(said),
      ...(taken.length > 0 ? [`The command changed ${firstOf(taken)}.`] : []),
      ...(notTaken.length > 0 ? [`No part of your change:\n${firstOf(notTaken, '\n')}`] : []),
    ].join('\n');
  }

  /** What the command needs to run as the project's tests do. */
  async #surroundings(command: string, signal: AbortSignal): Promise<Surroundings> {
    const { parts: { verifier }, of, test, copy, folder } = this.#options;
    const run = { command, copy: copy.folder, tools: folder.tools };
    // A container has programs of its own.
    if (test?.image !== undefined) return { command, environment: {}, programFolders: await binFolders(run), readable: [] };
    return await verifier.surroundings({ ...test, ...of, signal }, run);
  }

  async #test(signal: AbortSignal): Promise<string> {
    const { test, parts, of, newTests } = this.#options;
    if (!test) return 'Not done: no test command of this project is known.';
    try {
      const tried = await parts.verifier.tryTests({ ...test, ...of, patch: { edits: this.edits }, newTests, signal });
      return shown(testsInWords(tried));
    } catch (error) {
      if (!(error instanceof PatchNotApplicableError)) throw error;
      return `Not done: ${error.message} The project was changed by somebody else in the meantime.`;
    }
  }

  /** Takes over what a command changed. @returns what the worker has to know of it */
  async #takeChanges(signal: AbortSignal): Promise<string[]> {
    const { taken, left } = await this.#differing(signal);
    return [
      ...(taken.length > 0 ? [`The command changed ${firstOf(taken)}.`] : []),
      ...(left.length > 0 ? [`No part of your change:\n${firstOf(left, '\n')}`] : []),
    ];
  }

  /** Takes over what differs since it was last looked at. @returns the paths, and why others are no part of the change */
  async #differing(signal: AbortSignal): Promise<{ readonly taken: readonly string[]; readonly left: readonly string[] }> {
    const [taken, left]: [string[], string[]] = [[], []];
    for (const file of await this.#changedFiles.since(signal)) {
      if (this.#hidden.has(file)) continue;
      const why = await this.#take(file);
      if (why === undefined) taken.push(file);
      else left.push(`${file}: ${why}`);
    }
    return { taken, left };
  }

  /** @returns why a changed file is no part of the step's change */
  async #take(file: string): Promise<string | undefined> {
    const before = await this.#base(file);
    const refusal = this.#refusal(file) ?? (await refusalOnDisk(this.#folder, file));
    const after = refusal === undefined ? await this.text(file) : undefined;
    const why = refusal ?? (after === undefined ? undefined : await this.#whyItChangesTests(file, after));
    if (before === undefined || after === undefined || why !== undefined) {
      if (before !== undefined && before !== null) await this.#putBack(file, before);
      return why ?? 'It is no text file that can be handed on.';
    }
    const tooMuch = this.#tooMuch(file, after);
    if (tooMuch !== undefined) return tooMuch;
    this.#note(file, before, after);
    return undefined;
  }

  /** Why a change of one more file would be too large. */
  #tooMuch(file: string, after: string | null): string | undefined {
    const others = this.edits.filter(({ path: other }) => other !== file);
    if (others.length >= MAX_CHANGED_FILES) return `A step changes at most ${counted(MAX_CHANGED_FILES, 'file')}.`;
    const size = others.reduce((sum, edit) => sum + Math.max(edit.before?.length ?? 0, edit.after?.length ?? 0), after?.length ?? 0);
    return size > MAX_CHANGED_CHARACTERS ? 'The change of the step would be too large to be handed on.' : undefined;
  }

  /** What an answer may not change stays as it was, so that later commands see what the judge will see. */
  async #putBack(file: string, text: string): Promise<void> {
    this.#edits.delete(file);
    const target = path.join(this.#folder, file);
    await rm(target, { recursive: true, force: true });
    await this.#put(file, text);
  }

  /** The text in the base; null if there is no such file, undefined if it is no text. */
  async #base(file: string): Promise<string | null | undefined> {
    const { parts, snapshot } = this.#options;
    if (!this.#paths.has(file)) return null;
    const own = this.#ofBase.get(file);
    if (own !== undefined) return own;
    const text = await parts.copies.onFiles(snapshot, async (files) => files.text(file)).catch(() => undefined);
    return text === undefined || text.includes('\0') || text.includes('\uFFFD') ? undefined : text;
  }

  async #write(file: string, after: string | null): Promise<void> {
    const before = await this.#base(file);
    if (after === null) await rm(path.join(this.#folder, file), { force: true });
    else await this.#put(file, after);
    this.#changedFiles.written(file);
    this.#note(file, before ?? null, after);
  }

  async #put(file: string, text: string): Promise<void> {
    const target = path.join(this.#folder, file);
    await mkdir(path.dirname(target), { recursive: true });
    const mode = await stat(target).then((found) => found.mode & 0o777, () => 0o644);
    await replaceFile(target, text, { mode, isDurable: false });
    this.#changedFiles.written(file);
  }

  #note(file: string, before: string | null, after: string | null): void {
    if (before === after) this.#edits.delete(file);
    else this.#edits.set(file, { path: file, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after });
  }

  /** Why a file may not be changed. */
  #refusal(file: string): string | undefined {
    if (this.#hidden.has(file) || isSecretFile(file)) return 'It may hold secrets.';
    return this.#options.newTests && isPathOfTest(file) ? undefined : protectedReason(file);
  }

  /** Why the new text of a file does more to tests that are there than to add some. */
  async #whyItChangesTests(file: string, after: string | null): Promise<string | undefined> {
    const before = isPathOfTest(file) ? await this.#base(file) : null;
    return before === undefined ? undefined : await whyItChangesTests({ path: file, before, after });
  }

  #checked(written: string): { readonly path: string } | { readonly refused: string } {
    const checked = checkWorkspacePath(this.#inCopy(written));
    if (checked.refused !== undefined) return { refused: checked.refused };
    const refusal = this.#refusal(checked.path);
    return refusal === undefined ? checked : { refused: refusal };
  }

  /** Models write the path that commands show them, too. */
  #inCopy(written: string): string {
    return written.startsWith(`${this.#folder}/`) ? written.slice(this.#folder.length + 1) : written.replace(/^\.\//, '');
  }
}

/** The changes of these edits, for the journal. */
export const changesOf = (edits: readonly FileEdit[]): FileChange[] => edits.map(({ path: file, before, after }) => changeOf(file, before, after));

/** A part of a line is found, too, if it is there once. */
function replaced(text: string, replacement: Replacement): ReturnType<typeof applyReplacement> {
  const result = applyReplacement(text, replacement);
  const asPart = 'reason' in result && !replacement.isExact ? applyReplacement(text, { ...replacement, isExact: true }) : result;
  return 'text' in asPart ? asPart : result;
}

const notDone = (file: string, reason: string): string => `Not done: ${shown(file, 300)}: ${reason}`;
const refused = (file: string, reason: string): Done => ({ text: notDone(file, reason) });

const MAX_NAMED = 10;

function firstOf(names: readonly string[], separator = ', '): string {
  const more = names.length - MAX_NAMED;
  return more > 0 ? `${names.slice(0, MAX_NAMED).join(separator)}${separator}and ${more} more` : names.join(separator);
}
