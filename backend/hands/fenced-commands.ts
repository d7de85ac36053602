import { splitFences, type Fence } from '../verify/patch/fences.ts';
import { hasConflictMarkers, readReplacements } from '../verify/patch/replace-blocks.ts';
import { commandOf, isToolName, type Command } from './command.ts';

/*
 * Commands as fenced blocks, for workers whose server has no tool calls. The form is the one that models know from answers: the word behind
 * the fence says what to do. What they write in its place is read, too: a shell block at the end, and calls as JSON.
 */

/** Of more commands in one reply only these are done. */
export const MAX_COMMANDS = 8;
const MAX_WRITTEN_PATH = 1_100;

const SHELLS: ReadonlySet<string> = new Set(['bash', 'sh', 'shell', 'console', 'zsh', 'terminal']);
const OTHER_NAMES: Readonly<Record<string, string>> = { write: 'create', new: 'create', remove: 'delete', grep: 'search', find_text: 'search', tests: 'test', execute: 'run' };

/** The commands of a reply, in order; none if it is a last message. */
export function fencedCommands(reply: string): Command[] {
  const text = reply.replace(/^\s*<think(?:ing)?>[\s\S]*?<\/think(?:ing)?>/, '');
  const parts = splitFences(text);
  const fences = parts.filter((part) => part.kind === 'fence');
  const found = fences.flatMap((fence) => commandIn(fence) ?? []);
  if (found.length > 0) return found;
  const called = text.split('<tool_call>').slice(1).flatMap((part) => callIn(part.split('</tool_call>', 1)[0] ?? '') ?? []);
  if (called.length > 0) return called;
  // A shell block among other words may only show how something is used.
  const last = parts.findLast((part) => part.kind === 'fence' || part.lines.some((line) => line.trim() !== ''));
  return fences.length === 1 && last?.kind === 'fence' && SHELLS.has(last.language.toLowerCase()) ? [ran(last)] : [];
}

function commandIn(fence: Fence): Command | undefined {
  const word = fence.language.toLowerCase().replace(/:$/, '');
  const name = OTHER_NAMES[word] ?? word;
  if (name === 'json' || name === 'tool' || name === 'tool_call') return callIn(fence.lines.join('\n'));
  if (!isToolName(name)) return undefined;
  const rest = fence.info.slice(fence.language.length).trim().replace(/^(?:path|file)\s*[=:]\s*/i, '').replaceAll(/^["'`]|["'`]$/g, '');
  const body = fence.lines.join('\n');
  if (fence.unclosed && name !== 'read' && name !== 'test') return { kind: 'unreadable', name, reason: 'The block is not closed: it may have been cut off. Write less at once.' };
  switch (name) {
    case 'read':
      return readIn((rest || body.trim().split('\n', 1)[0] || '').slice(0, MAX_WRITTEN_PATH));
    case 'search':
      return body.trim() === '' ? { kind: name, pattern: rest } : { kind: name, pattern: body.trim().split('\n', 1)[0] ?? '', ...(rest !== '' && { path: rest }) };
    case 'edit':
      return editIn(rest, fence.lines);
    case 'create':
      return rest === '' ? { kind: 'unreadable', name, reason: 'Name the path of the new file behind the word "create".' } : { kind: name, path: rest, content: `${body}\n` };
    case 'delete':
      return { kind: name, path: rest || body.trim() };
    case 'run':
      return ran(fence, rest);
    case 'test':
      return { kind: name };
  }
}

const ran = ({ lines, unclosed }: Fence, rest = ''): Command =>
  unclosed
    ? { kind: 'unreadable', name: 'run', reason: 'The block is not closed: it may have been cut off.' }
    : { kind: 'run', command: [...(rest === '' ? [] : [rest]), ...lines.map((line) => line.replace(/^\$ /, ''))].join('\n').trim() };

function readIn(written: string): Command {
  const [, path = '', from, to] = /^(.*?)(?:(?::|#L|\s+(?:lines?\s+)?)(\d{1,7})(?:\s*(?:-L?|–|,|\s|to)\s*(\d{1,7}))?)?$/.exec(written.trim()) ?? [];
  return { kind: 'read', path: path.trim(), ...(from && { from: Number(from), to: Number(to ?? from) }) };
}

function editIn(path: string, lines: readonly string[]): Command {
  const unreadable = (reason: string): Command => ({ kind: 'unreadable', name: 'edit', reason });
  if (!hasConflictMarkers(lines)) return unreadable('An edit needs a block <<<<<<< SEARCH … ======= … >>>>>>> REPLACE. For a new file use "create".');
  const found = readReplacements(lines, path === '' ? undefined : path);
  const broken = found.find((one) => 'reason' in one);
  if (broken && 'reason' in broken) return unreadable(broken.reason);
  const named = path || found[0]?.path;
  if (named === undefined) return unreadable('Name the path of the file behind the word "edit".');
  return { kind: 'edit', path: named, replacements: found.flatMap((one) => ('replacement' in one ? [one.replacement] : [])) };
}

/** A call as JSON, in the forms that models write. */
function callIn(json: string): Command | undefined {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return /"(?:name|tool|command)"\s*:\s*"(?:read|search|edit|create|delete|run|test)"/.test(json)
      ? { kind: 'unreadable', name: 'call', reason: 'The call is not valid JSON.' } : undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const { name, tool, arguments: given, parameters, args, input, ...rest } = value as Record<string, unknown>;
  const called = name ?? tool;
  return typeof called === 'string' && isToolName(called) ? commandOf(called, given ?? parameters ?? args ?? input ?? rest) : undefined;
}
