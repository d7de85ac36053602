import { createTwoFilesPatch } from 'diff';
import { changed, type Sample, type Target } from './samples.ts';

/** A form in which an answer gives a change. A new one is a row. */
export interface Form {
  readonly name: string;
  readonly write: (sample: Sample, target: Target) => string;
  /** The kind of form, for the table. */
  readonly group: string;
  /** Names no file: only what was shown tells it. */
  readonly isNameless?: boolean;
  /** Whether the samples hold places that it does not tell apart. Then nothing may be changed. */
  readonly mayBeAmbiguous?: boolean;
}

export const fence = (info: string, content: string, mark = '```'): string => `${mark}${info}\n${content.replace(/\n$/, '')}\n${mark}\n`;
const indented = (text: string, indent: string): string => text.split('\n').map((line) => (line === '' ? line : indent + line)).join('\n');
const asInFile = ({ indent }: Target, text: string): string => indented(text, indent);

/** The unified diff of the change without its headers. */
function hunk(sample: Sample, target: Target, context = 3): string {
  const patch = createTwoFilesPatch('a', 'b', sample.file, changed(sample, target), undefined, undefined, { context });
  return patch.split('\n').slice(3).join('\n').trimEnd();
}
const withoutHeader = (text: string): string => text.replace(/^@@[^\n]*\n/, '');
const names = ({ path }: Sample): string => `--- a/${path}\n+++ b/${path}`;

/** The changed line with the line before it: found once in each sample. */
function place({ file }: Sample, { oldLine, newLine }: Target): { search: string; replace: string } {
  const lines = file.split('\n');
  const at = lines.findIndex((_, index) => lines.slice(index).join('\n').startsWith(oldLine));
  const before = lines[at - 1] ?? '';
  return { search: `${before}\n${oldLine}`, replace: `${before}\n${newLine}` };
}
const marks = (sample: Sample, target: Target, [a, b, c] = ['<<<<<<< SEARCH', '=======', '>>>>>>> REPLACE']): string => {
  const { search, replace } = place(sample, target);
  return `${a}\n${search}\n${b}\n${replace}\n${c}`;
};

/** The function with its first line and the statement that changes; what stands before and behind it is left out. */
function elided({ comment }: Sample, { after, newLine, indent }: Target, words: string): string {
  const lines = after.split('\n');
  const own = newLine.split('\n').map((line) => line.slice(indent.length));
  const signature = lines.findIndex((line) => /[{:]$/.test(line));
  const depth = /^\s*/.exec(lines[signature + 1] ?? '')?.[0] ?? '';
  const isStatement = (line: string): boolean => line.startsWith(depth) && !/^\s/.test(line.slice(depth.length)) && !/^\s*[}\])]/.test(line);
  const at = lines.findIndex((_, index) => lines.slice(index).join('\n').startsWith(own.join('\n')));
  const start = lines.findLastIndex((line, index) => index <= at && isStatement(line));
  const behind = lines.findIndex((line, index) => index >= at + own.length && (isStatement(line) || (index > at && /^\S/.test(line))));
  const end = behind < 0 ? lines.length : behind;
  const close = /^\}/.test(lines.at(-1) ?? '') ? [lines.at(-1) ?? ''] : [];
  const gap = `${depth}${words === '...' ? words : `${comment} ${words}`}`;
  const rest = lines.slice(end, lines.length - close.length);
  return [...lines.slice(0, signature + 1), ...(start > signature + 1 ? [gap] : []), ...lines.slice(start, end), ...(rest.length > 0 ? [gap] : []), ...close].join('\n');
}

const beginPatch = (sample: Sample, target: Target, scope = ''): string =>
  `*** Begin Patch\n*** Update File: ${sample.path}\n@@${scope}\n${withoutHeader(hunk(sample, target))}\n*** End Patch`;
const json = (value: unknown): string => JSON.stringify(value, null, 2);

export const FORMS: readonly Form[] = [
  // Whole files.
  { group: 'whole file', name: 'path behind the language', write: (s, t) => `Here is the corrected file.\n\n${fence(`${s.language} ${s.path}`, changed(s, t))}\nThat is all.` },
  { group: 'whole file', name: 'path in bold above', write: (s, t) => `**${s.path}**\n\n${fence(s.language, changed(s, t))}` },
  { group: 'whole file', name: 'path in a comment', write: (s, t) => fence(s.language, `${s.comment} ${s.path}\n${changed(s, t)}`) },
  { group: 'whole file', name: 'filepath: in a comment', write: (s, t) => fence(s.language, `${s.comment} filepath: ${s.path}\n${changed(s, t)}`) },
  { group: 'whole file', name: 'path on a line above', write: (s, t) => `${s.path}\n${fence(s.language, changed(s, t))}` },
  { group: 'whole file', name: 'heading with a link', write: (s, t) => `### [${s.path}](${s.path})\n\n${fence(s.language, changed(s, t))}` },
  { group: 'whole file', name: 'under a sentence', write: (s, t) => `The complete new content of \`${s.path}\` is:\n\n${fence(s.language, changed(s, t))}` },
  // Diffs.
  { group: 'diff', name: 'of git', write: (s, t) => fence('diff', `diff --git a/${s.path} b/${s.path}\n${names(s)}\n${hunk(s, t)}`) },
  { group: 'diff', name: 'wrong line numbers and counts', write: (s, t) => fence('diff', `${names(s)}\n${hunk(s, t).replace(/@@.*@@/, '@@ -91,7 +91,9 @@')}`) },
  { group: 'diff', name: 'without a fence', write: (s, t) => `I change one line.\n\n${names(s)}\n${hunk(s, t)}\n\nThat is all.` },
  { group: 'diff', name: '@@ without numbers', write: (s, t) => fence('diff', `${names(s)}\n@@ @@\n${withoutHeader(hunk(s, t))}`) },
  { group: 'diff', name: '@@ ... @@', write: (s, t) => fence('diff', `--- ${s.path}\n+++ ${s.path}\n@@ ... @@\n${withoutHeader(hunk(s, t))}`) },
  { group: 'diff', name: 'without hunk headers', write: (s, t) => fence('diff', `${names(s)}\n${withoutHeader(hunk(s, t))}`) },
  { group: 'diff', name: 'without any header, under a sentence', write: (s, t) => `Change \`${s.path}\` as follows:\n\n${fence('diff', withoutHeader(hunk(s, t)))}` },
  { group: 'diff', name: 'without any header, path in the heading', write: (s, t) => `### ${s.path}\n${fence('diff', withoutHeader(hunk(s, t)))}` },
  { group: 'diff', name: 'of a file that is not named', isNameless: true, write: (s, t) => `This fixes it:\n\n${fence('diff', withoutHeader(hunk(s, t)))}` },
  // Search and replace.
  { group: 'search/replace', name: 'path above the fence', write: (s, t) => `${s.path}\n${fence(s.language, marks(s, t))}` },
  { group: 'search/replace', name: 'path inside of the fence', write: (s, t) => fence('', `${s.path}\n${marks(s, t)}`) },
  { group: 'search/replace', name: 'path behind the language', write: (s, t) => fence(`${s.language} ${s.path}`, marks(s, t)) },
  { group: 'search/replace', name: 'path above, without a fence', write: (s, t) => `I change one line.\n\n### ${s.path}\n${marks(s, t)}\n\nDone.` },
  { group: 'search/replace', name: 'marks of minus and plus', write: (s, t) => `${s.path}\n${fence('', marks(s, t, ['------- SEARCH', '=======', '+++++++ REPLACE']))}` },
  { group: 'search/replace', name: 'under a sentence', write: (s, t) => `In \`${s.path}\`, apply this:\n\n${fence('', marks(s, t))}` },
  // Functions.
  { group: 'function alone', name: 'under a sentence', write: (s, t) => `In \`${s.path}\`, replace \`${t.name}\` with this:\n\n${fence(s.language, t.after)}` },
  { group: 'function alone', name: 'under a sentence, as in the file', write: (s, t) => `The fix is in ${s.path}:\n\n${fence(s.language, asInFile(t, t.after))}` },
  { group: 'function alone', name: 'path behind the language', write: (s, t) => fence(`${s.language} ${s.path}`, t.after) },
  { group: 'function alone', name: 'path in the heading', write: (s, t) => `### \`${s.path}\`\n\n${fence(s.language, t.after)}` },
  { group: 'function alone', name: 'path in a comment', write: (s, t) => fence(s.language, `${s.comment} ${s.path}\n${t.after}`) },
  { group: 'function alone', name: 'of a file that is not named', isNameless: true, write: (s, t) => `The corrected function:\n\n${fence(s.language, t.after)}` },
  { group: 'function alone', name: 'in another language of people', write: (s, t) => `Ersetze in \`${s.path}\` die Funktion \`${t.name}\`:\n\n${fence(s.language, t.after)}` },
  // Left out.
  { group: 'left out', name: '… rest unchanged', write: (s, t) => `In \`${s.path}\`, change \`${t.name}\`:\n\n${fence(s.language, elided(s, t, '… rest unchanged'))}` },
  { group: 'left out', name: '... existing code ...', write: (s, t) => fence(`${s.language} ${s.path}`, `${s.comment} ... existing code ...\n\n${asInFile(t, t.after)}\n\n${s.comment} ... existing code ...`) },
  { group: 'left out', name: 'the rest of the function stays the same', write: (s, t) => `**${s.path}**\n${fence(s.language, elided(s, t, 'the rest of the function stays the same'))}` },
  { group: 'left out', name: 'dots alone', write: (s, t) => `Update \`${t.name}\` in \`${s.path}\`:\n\n${fence(s.language, elided(s, t, '...'))}` },
  { group: 'left out', mayBeAmbiguous: true, name: 'file with gaps around a part of a function', write: (s, t) => fence(`${s.language} ${s.path}`, `${s.comment} ...existing code...\n${place(s, t).replace}\n${s.comment} ...existing code...`) },
  // Patches.
  { group: 'begin patch', name: 'in a fence', write: (s, t) => fence('', beginPatch(s, t)) },
  { group: 'begin patch', name: 'without a fence', write: (s, t) => `Done:\n\n${beginPatch(s, t)}\n` },
  { group: 'begin patch', name: 'in a command', write: (s, t) => fence('bash', `apply_patch <<'EOF'\n${beginPatch(s, t)}\nEOF`) },
  { group: 'begin patch', name: 'in JSON', write: (s, t) => fence('json', json({ cmd: ['apply_patch'], input: beginPatch(s, t) })) },
  // Tags.
  { group: 'tags', name: '<file path>', write: (s, t) => `<file path="${s.path}">\n${changed(s, t)}</file>` },
  { group: 'tags', name: '<write_to_file>', write: (s, t) => `<write_to_file>\n<path>${s.path}</path>\n<content>\n${changed(s, t)}</content>\n<line_count>9</line_count>\n</write_to_file>` },
  { group: 'tags', name: '<replace_in_file>', write: (s, t) => `<replace_in_file>\n<path>${s.path}</path>\n<diff>\n${marks(s, t)}\n</diff>\n</replace_in_file>` },
  { group: 'tags', name: '<apply_diff> with a place', write: (s, t) => `<apply_diff>\n<path>${s.path}</path>\n<diff>\n${marks(s, t, ['<<<<<<< SEARCH\n:start_line:7\n-------', '=======', '>>>>>>> REPLACE'])}\n</diff>\n</apply_diff>` },
  { group: 'tags', name: '<edit> with <search> and <replace>', write: (s, t) => `<edit path="${s.path}">\n<search>\n${place(s, t).search}\n</search>\n<replace>\n${place(s, t).replace}\n</replace>\n</edit>` },
  { group: 'tags', name: '<invoke> with parameters', write: (s, t) => `<function_calls>\n<invoke name="str_replace_based_edit_tool">\n<parameter name="command">str_replace</parameter>\n<parameter name="path">${s.path}</parameter>\n<parameter name="old_str">${place(s, t).search}</parameter>\n<parameter name="new_str">${place(s, t).replace}</parameter>\n</invoke>\n</function_calls>` },
  { group: 'tags', name: '<function=…> with parameters', write: (s, t) => `<function=str_replace_editor>\n<parameter=command>str_replace</parameter>\n<parameter=path>${s.path}</parameter>\n<parameter=old_str>\n${place(s, t).search}\n</parameter>\n<parameter=new_str>\n${place(s, t).replace}\n</parameter>\n</function>` },
  { group: 'tags', name: '<artifact> in a fence of XML', write: (s, t) => fence('xml', `<boltAction type="file" filePath="${s.path}">\n${changed(s, t)}</boltAction>`) },
  { group: 'tags', name: '<original> and <updated> below the path', write: (s, t) => `${s.path}\n<original>\n${place(s, t).search}\n</original>\n<updated>\n${place(s, t).replace}\n</updated>` },
  // Two blocks.
  { group: 'two blocks', name: 'change … to …', write: (s, t) => `In \`${s.path}\`, change\n\n${fence(s.language, t.oldLine)}\nto\n\n${fence(s.language, t.newLine)}` },
  { group: 'two blocks', name: 'before and after', write: (s, t) => `### ${s.path}\n\n**Before:**\n${fence(s.language, place(s, t).search)}\n**After:**\n${fence(s.language, place(s, t).replace)}` },
  { group: 'two blocks', name: 'replace this … with this, not named', isNameless: true, write: (s, t) => `Replace this:\n${fence(s.language, place(s, t).search)}\nwith this:\n${fence(s.language, place(s, t).replace)}` },
  { group: 'two blocks', name: 'find … and replace it with, functions', write: (s, t) => `In ${s.path}, find this function:\n${fence(s.language, asInFile(t, t.before))}\nand replace it with:\n${fence(s.language, asInFile(t, t.after))}` },
  // JSON.
  { group: 'JSON', name: 'old_string and new_string', write: (s, t) => fence('json', json({ file_path: s.path, old_string: place(s, t).search, new_string: place(s, t).replace })) },
  { group: 'JSON', name: 'edits below a path', write: (s, t) => fence('json', json({ path: s.path, edits: [place(s, t)] })) },
  { group: 'JSON', name: 'files with contents', write: (s, t) => fence('json', json({ files: [{ path: s.path, content: changed(s, t) }] })) },
  { group: 'JSON', name: 'paths as keys', write: (s, t) => json({ explanation: 'One line.', files: { [s.path]: changed(s, t) } }) },
  { group: 'JSON', name: 'a tool call with arguments as text', write: (s, t) => `<tool_call>\n${json({ name: 'edit_file', arguments: JSON.stringify({ path: s.path, oldText: place(s, t).search, newText: place(s, t).replace }) })}\n</tool_call>` },
  { group: 'JSON', name: 'with line ends inside of texts', write: (s, t) => fence('json', `{\n  "path": "${s.path}",\n  "search": ${JSON.stringify(place(s, t).search).replaceAll('\\n', '\n')},\n  "replace": ${JSON.stringify(place(s, t).replace).replaceAll('\\n', '\n')}\n}`) },
];
