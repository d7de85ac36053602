import type { Tool } from '../workers/model.ts';
import type { ToolName } from './command.ts';

const text = (description: string): Record<string, unknown> => ({ type: 'string', description });
const line = { type: 'integer', minimum: 1 };

const tool = (name: ToolName, description: string, properties: Readonly<Record<string, unknown>>, required: readonly string[]): Tool => ({
  name, description, parameters: { type: 'object', properties, required, additionalProperties: false },
});

const path = text('Relative to the project.');

/** The commands as tools, for servers with tool calls. */
export const TOOLS: readonly Tool[] = [
  tool('read', 'Shows a file with line numbers, or the names in a folder.', { path, start_line: line, end_line: line }, ['path']),
  tool('search', 'Finds lines by a regular expression in all files, or below a path.', { pattern: text('In the syntax of ripgrep.'), path }, ['pattern']),
  tool('edit', 'Replaces a text that stands in the file exactly once.', { path, search: text('The text as it stands there.'), replace: text('What comes in its place.') }, ['path', 'search', 'replace']),
  tool('create', 'Makes a new file.', { path, content: text('All of the file.') }, ['path', 'content']),
  tool('delete', 'Deletes a file.', { path }, ['path']),
  tool('run', 'Runs a shell command in the copy, without network and without input.', { command: text('For a POSIX shell.') }, ['command']),
  tool('test', 'Runs the tests of the project on your changes.', {}, []),
];
