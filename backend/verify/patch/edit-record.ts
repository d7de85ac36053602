import type { AnswerBlock } from './answer-block.ts';
import { looksLikePath } from './named-path.ts';

/*
 * Many forms write an edit as fields with names: arguments of a tool, XML tags, JSON objects. The names differ; what they mean does not.
 */

/** An edit in fields. A field is undefined if it was not given. */
export interface EditRecord {
  readonly path?: string | undefined;
  readonly old?: string | undefined;
  readonly new?: string | undefined;
  readonly content?: string | undefined;
  readonly diff?: string | undefined;
  readonly action?: string | undefined;
  /** Where a file is moved to. */
  readonly target?: string | undefined;
  /** Whether `old` may stand for several places. */
  readonly all?: boolean | undefined;
  /** Fields that no edit has. */
  readonly others?: number;
  /** It names lines by their numbers. */
  readonly byLine?: boolean | undefined;
}

type Role = 'path' | 'old' | 'new' | 'content' | 'diff' | 'action' | 'target' | 'all' | 'byLine' | 'ignored';

const ROLES: Readonly<Record<Role, readonly string[]>> = {
  path: ['path', 'file', 'filename', 'filepath', 'targetfile', 'relativepath', 'relpath', 'absolutepath', 'relativeworkspacepath', 'uri', 'sourcefile', 'filetoedit', 'pathname'],
  old: ['old', 'oldstr', 'oldstring', 'oldtext', 'oldcode', 'oldcontent', 'oldlines', 'search', 'searchtext', 'searchstring', 'searchblock', 'find', 'original', 'originalcode', 'originaltext', 'before', 'from', 'remove'],
  new: ['new', 'newstr', 'newstring', 'newtext', 'newcode', 'newlines', 'replace', 'replacement', 'replacetext', 'replacewith', 'replacementtext', 'updated', 'updatedcode', 'after', 'to', 'with', 'modified'],
  content: ['content', 'contents', 'filetext', 'filecontent', 'filecontents', 'code', 'text', 'body', 'source', 'newcontent', 'newcontents', 'newfilecontent', 'updatedcontent', 'codeedit', 'fullcontent', 'data'],
  diff: ['diff', 'patch', 'udiff', 'unifieddiff', 'input'],
  action: ['action', 'command', 'operation', 'op', 'type', 'mode', 'changetype', 'kind', 'tool', 'toolname', 'method'],
  target: ['newpath', 'moveto', 'movepath', 'renameto', 'destination', 'dest', 'targetpath', 'newfilename', 'newname'],
  all: ['replaceall', 'allowmultiple', 'global'],
  byLine: ['startline', 'endline', 'line', 'lines', 'linenumber', 'insertline', 'linestart', 'lineend', 'range', 'startlinenumber', 'endlinenumber', 'viewrange', 'lineno'],
  ignored: [
    'description', 'explanation', 'reason', 'reasoning', 'summary', 'title', 'language', 'lang', 'id', 'instruction', 'instructions', 'thought', 'comment', 'name',
    'linecount', 'expectedreplacements', 'encoding', 'message', 'rationale', 'overwrite', 'isnew', 'isnewfile', 'status', 'securityrisk', 'requiresapproval',
  ],
};

const ROLE_OF = new Map<string, Role>(Object.entries(ROLES).flatMap(([role, names]) => names.map((name): [string, Role] => [name, role as Role])));

/** What a field is, by its name in any spelling: `old_string`, `oldString`, `old-string`. */
export const roleOf = (name: string): Role | undefined => ROLE_OF.get(name.toLowerCase().replaceAll(/[^a-z]/g, ''));

/** Reads fields as an edit. `inherited`: the path of what they stand in. */
export function recordOf(fields: Iterable<readonly [name: string, value: unknown]>, inherited?: string): EditRecord {
  const record: Record<string, unknown> = {};
  let others = 0;
  for (const [name, value] of fields) {
    const role = roleOf(name);
    if (role === undefined) others += 1;
    else if (role === 'byLine') record.byLine = true;
    else if (role === 'all') record.all = value === true || value === 'true';
    else if (role !== 'ignored' && record[role] === undefined) {
      const text = Array.isArray(value) && value.every((line) => typeof line === 'string') ? value.join('\n') : value;
      if (typeof text === 'string') record[role] = text;
      else if (text === null && role === 'content') record.action ??= 'delete';
    }
  }
  return { path: inherited, ...record, others };
}

/** Whether the fields are those of an edit and nothing else. */
export function isEdit({ path, old, content, diff, action, others = 0, ...record }: EditRecord): boolean {
  if (others > 1) return false;
  const changes = (old !== undefined && record.new !== undefined) || content !== undefined || diff !== undefined || (isDeletion(action) && path !== undefined)
    || (record.target !== undefined && path !== undefined);
  // A patch names its files itself.
  if (diff !== undefined && path === undefined) return NAMES_FILES.test(diff);
  return changes && (path === undefined ? old !== undefined && record.new !== undefined : (looksLikePath(path) && NAMES_A_FILE.test(path)) || isPlainName(path));
}

const NAMES_FILES = /^(?:\*\*\* (?:Add|Update|Delete) File: |diff --git |\+\+\+ \S)/m;

/** An ending, or a name that begins with a dot or a capital letter: "/items" is an address. */
const NAMES_A_FILE = /(?:\.\w{1,12}|(?:^|[/\\])[A-Z][\w-]*)$/;

/** `Makefile`, `LICENSE`. */
const isPlainName = (path: string): boolean => /^[A-Z][\w.-]*$/.test(path);

const isDeletion = (action: string | undefined): boolean => /^(?:delete|remove|rm|unlink)(?:[_ -]?file)?$/i.test(action ?? '');

/** The changes that an edit in fields asks for. */
export function blocksOf(record: EditRecord, blocksOfText: (text: string, path: string | undefined) => AnswerBlock[]): AnswerBlock[] {
  const { path, old, content, diff, action, target, all } = record;
  if (diff !== undefined) return blocksOfText(diff, path);
  if (path === undefined) {
    if (old === undefined || record.new === undefined) return [];
    return [{ kind: 'replacements', path: undefined, replacements: [{ search: old, replace: record.new, isExact: true, ...(all && { all }) }] }];
  }
  if (record.byLine === true && old === undefined)
    return [{ kind: 'broken', path, reason: 'The edit names lines by their numbers, which cannot be checked.' }];
  if (isDeletion(action) && old === undefined && content === undefined) return [{ kind: 'deleted', path }];
  if (target !== undefined && old === undefined) {
    return [{ kind: 'moved', path, target, content }];
  }
  if (old !== undefined && record.new !== undefined) {
    if (old === '') return [{ kind: 'file', path, content: record.new, mustBeNew: true }];
    return [{ kind: 'replacements', path, replacements: [{ search: old, replace: record.new, isExact: true, ...(all && { all }) }] }];
  }
  if (content !== undefined) {
    if (/insert|append|prepend/i.test(action ?? '')) return [{ kind: 'broken', path, reason: 'The edit does not say beside which lines of the file its text belongs.' }];
    return [{ kind: 'file', path, content: withoutFence(content), mustBeNew: false }];
  }
  return [{ kind: 'broken', path, reason: 'The edit lacks the text to replace or the text to put in its place.' }];
}

/** Some models put a fence inside of the tags, and a line end before and after the text. */
function withoutFence(content: string): string {
  const text = content.replace(/^\n/, '');
  const inner = /^\s*(`{3,}|~{3,})[^\n`]*\n([\s\S]*?)\n?\s*\1\s*$/.exec(text)?.[2];
  return inner ?? text;
}
