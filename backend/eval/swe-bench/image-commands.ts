import { applyPatch } from 'diff';
import { lstat, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Slots } from '../../common/slots.ts';
import type { CommandsElsewhere, RanElsewhere } from '../../hands/commands-elsewhere.ts';
import { HANDS_LIMITS } from '../../hands/limits.ts';
import { commandInWords, endsOf } from '../../hands/run-command.ts';
import { readTextFile } from '../../verify/files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../../verify/files/workspace-path.ts';
import { unifiedDiff } from '../../verify/patch/unified-diff.ts';
import { MAILBOX, NotLeftError, type Containers } from '../../verify/sandbox/container/containers.ts';
import { defaultLimits } from '../../verify/sandbox/limits/limits.ts';
import { MARKS, PROJECT, type SweBenchRow } from './rows.ts';

export interface ImageCommandsOptions {
  readonly row: Pick<SweBenchRow, 'form' | 'evalScript'>;
  readonly image: string;
  /** The project's files as the image has them, absolute. */
  readonly files: string;
  readonly containers: Containers;
  /** Containers at the same time. */
  readonly slots: Slots;
}

/** A change that is larger than this, or of more files, is none that could be handed on. */
const MAX_CHANGE_BYTES = 16 * 2 ** 20;
const MAX_FILES = 1_000;
/** The exit codes of our own script. */
const EXIT = { noProject: 90, doesNotFit: 91 } as const;
/** Stands behind a change that was told to its end. No line of a diff begins so. */
const WHOLE = 'whole';
const GIT = "git -c safe.directory='*' -c core.quotePath=false -c user.name=Conductor -c user.email=conductor@localhost -c commit.gpgSign=false -c core.hooksPath=/dev/null";

/**
 * Runs the commands of a step with hands on the machine that a row's image is: each in a new container, which has the step's change and no network,
 * and of which nothing but the change of the project's files is kept. The row's tests are not in it, and neither is the project's history, which may
 * hold what people did later.
 */
export function imageCommands({ row, image, files, containers, slots }: ImageCommandsOptions): CommandsElsewhere {
  return {
    run: async (command, edits, signal) => {
      await slots.take(signal);
      const folder = await mkdtemp(path.join(tmpdir(), 'conductor-command-'));
      try {
        const [said, change] = [path.join(folder, 'said'), path.join(folder, 'change')];
        const outcome = await containers.runImage({
          image, signal, timeoutMs: HANDS_LIMITS.commandMs, limits: defaultLimits(HANDS_LIMITS.commandMs),
          given: { 'before.diff': edits.map(unifiedDiff).join(''), command: scriptOf(row, command), kept: edits.map((edit) => `${edit.path}\0`).join('') },
          taken: { said, change },
          script: script(row.form),
        });
        if (outcome.exitCode === EXIT.noProject) return { said: `Not done: the project in ${PROJECT} of the image cannot be made ready.` };
        if (outcome.exitCode === EXIT.doesNotFit) return { said: 'Not done: your change does not fit the project any more.' };
        const words = commandInWords({ ...outcome, stderr: '' }, await endsOf(said));
        if (outcome.exceeded !== undefined) return { said: `${words}\nWhat it changed is not kept.` };
        const found = await lstat(change);
        if (found.size > MAX_CHANGE_BYTES) return { said: `${words}\nIt changed more than can be kept, so none of that is kept.` };
        const diff = found.isFile() ? await readFile(change, 'utf8') : '';
        if (!diff.endsWith(`${WHOLE}\n`)) return { said: `${words}\nWhat it changed cannot be told, so none of that is kept.` };
        const parts = diff.slice(0, -WHOLE.length - 1).split(/^(?=diff --git )/m).filter((text) => text.startsWith('diff --git '));
        if (parts.length > MAX_FILES) return { said: `${words}\nIt changed more than can be kept, so none of that is kept.` };
        return { said: words, ...(await filesOf(parts, files)) };
      } catch (error) {
        if (!(error instanceof NotLeftError)) throw error;
        return { said: `It ended, and what it printed and changed is not known: it removed the files in ${MAILBOX}.` };
      } finally {
        await rm(folder, { recursive: true, force: true });
        slots.giveBack();
      }
    },
  };
}

/**
 * The command's own exit code is that of the container. All that is there before the command, ignored files apart, is in the base: of a file that Git does
 * not track, only a change is a change. Files that are tracked and gone are not there, and the files of a submodule are files.
 */
const script = (form: SweBenchRow['form']): string => [
  `: > ${MAILBOX}/said; : > ${MAILBOX}/change`,
  `cd ${PROJECT} || exit ${EXIT.noProject}`,
  `${GIT} ls-files -z > ${MAILBOX}/tracked || exit ${EXIT.noProject}`,
  `bash -c '${THERE}' < ${MAILBOX}/tracked > ${MAILBOX}/there && rm -rf .git && ${GIT} init --quiet . || exit ${EXIT.noProject}`,
  `${GIT} add -A --ignore-errors . 2>/dev/null`,
  `if [ -s ${MAILBOX}/there ]; then ${GIT} add -f --pathspec-from-file=${MAILBOX}/there --pathspec-file-nul || exit ${EXIT.noProject}; fi`,
  `${GIT} commit --quiet --allow-empty -m base || exit ${EXIT.noProject}`,
  `if [ -s ${MAILBOX}/before.diff ]; then ${GIT} apply ${MAILBOX}/before.diff || exit ${EXIT.doesNotFit}; fi`,
  `base=$(${GIT} rev-parse HEAD)`,
  // A command may end the shell that it runs in, but not this one.
  `(bash ${form === 'SWE-bench-Live' ? '-i ' : ''}${MAILBOX}/command) > ${MAILBOX}/said 2>&1 </dev/null; code=$?`,
  `cd ${PROJECT} && ${GIT} add -A --ignore-errors . 2>/dev/null`,
  // Of what is ignored, only what the step made. Without a path all of it would be added.
  `bash -c '${THERE}' < ${MAILBOX}/kept > ${MAILBOX}/there`,
  `if [ -s ${MAILBOX}/there ]; then ${GIT} add -f --pathspec-from-file=${MAILBOX}/there --pathspec-file-nul 2>/dev/null; fi`,
  `rm -rf ${MAILBOX}/change; { ${GIT} diff --cached --no-renames --no-color --no-ext-diff --no-textconv "$base" && echo ${WHOLE}; } > ${MAILBOX}/change`,
  'exit $code',
].join('\n');

/** Of paths that end with NUL, those of files and links. The history of what is in a folder goes, too. */
const THERE = 'while IFS= read -r -d "" one; do if [ -f "$one" ] || [ -L "$one" ]; then printf "%s\\0" "$one"; elif [ -d "$one" ]; then rm -rf "$one/.git"; fi; done';

/** With what the row's own script does before its tests, to have the project's programs. An interactive shell does that by itself. */
function scriptOf({ form, evalScript }: ImageCommandsOptions['row'], command: string): string {
  return [...(form === 'SWE-bench-Live' ? [] : surroundingsIn(evalScript)), `cd ${PROJECT}`, command, ''].join('\n');
}

/** The lines of a row's script that set up the shell of its tests. */
export function surroundingsIn(evalScript: string): string[] {
  const lines: string[] = [];
  let end: string | undefined;
  for (const line of evalScript.split('\n')) {
    if (line.includes(MARKS.begin)) break;
    if (end !== undefined) end = line === end ? undefined : end;
    else if (/^(?:source|\.|conda activate|export)\s/.test(line)) lines.push(line);
    else end = /<<-?\s*['"]?(\w+)['"]?\s*$/.exec(line)?.[1];
  }
  return [...new Set(lines)];
}

/** The files that a diff of Git changes, with their texts. It was written by whoever wrote the command. */
async function filesOf(parts: readonly string[], folder: string): Promise<Pick<RanElsewhere, 'files' | 'left'>> {
  const files = new Map<string, string | null>();
  const left: string[] = [];
  for (const part of parts) {
    // With another mode alone, nothing is handed on.
    if (isMode(part)) continue;
    const { name, after } = await fileOf(part, folder);
    if (after === undefined) left.push(`${name.slice(0, 300)}: It is no text file that can be handed on.`);
    else files.set(name, after);
  }
  return { files, left };
}

const BEGIN = 'diff --git a/';

const isMode = (part: string): boolean => /^new mode 100/m.test(part) && !part.includes('\n@@') && !/^(?:Binary files|GIT binary patch)/m.test(part);

/** One file of a diff, with its text; null if it is gone, undefined if it is no text. */
async function fileOf(part: string, folder: string): Promise<{ readonly name: string; readonly after: string | null | undefined }> {
  const [head = ''] = part.split('\n@@', 1);
  const [first = ''] = part.split('\n', 1);
  const name = nameIn(first);
  if (name === undefined) return { name: first, after: undefined };
  // Links and submodules have other modes.
  if (/^(?:new file mode|deleted file mode|new mode) (?!100)/m.test(head) || /^(?:Binary files|GIT binary patch)/m.test(head)) return { name, after: undefined };
  if (/^deleted file mode/m.test(head)) return { name, after: null };
  const isNew = /^new file mode/m.test(head);
  const before = isNew ? '' : await textIn(folder, name);
  // Without lines, a new file is empty.
  const after = head === part ? before : before === undefined ? undefined : patched(before, part);
  return { name, after };
}

/** The path in `diff --git a/PATH b/PATH`; undefined where Git had to quote it. The line may be as long as its writer likes. */
function nameIn(line: string): string | undefined {
  const [both, length] = [line.slice(BEGIN.length), (line.length - BEGIN.length - ' b/'.length) / 2];
  const name = both.slice(0, Math.max(0, length));
  return name !== '' && line === `${BEGIN}${name} b/${name}` ? name : undefined;
}

/** Of the project as the image has it. */
async function textIn(folder: string, name: string): Promise<string | undefined> {
  const checked = checkWorkspacePath(name);
  if (checked.refused !== undefined || (await refusalOnDisk(folder, checked.path)) !== undefined) return undefined;
  const found = await readTextFile(folder, checked.path);
  return found.kind === 'text' ? found.text : undefined;
}

/** Git tells each change at its place, so no other one is looked for: for some diffs of the size that is read, that would take hours. */
function patched(before: string, part: string): string | undefined {
  const compareLine = (_number: number, line: string | undefined, _operation: string, told: string): boolean => {
    if (line !== told) throw new Error('The diff is of another text.');
    return true;
  };
  try {
    const after = applyPatch(before, part, { autoConvertLineEndings: false, compareLine });
    return after === false ? undefined : after;
  } catch {
    return undefined;
  }
}
