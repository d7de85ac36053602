import { describe, expect, it } from 'vitest';
import { commandOfJson } from '../../backend/hands/command.ts';
import { fencedCommands } from '../../backend/hands/fenced-commands.ts';
import { handsWords } from '../../backend/hands/hands-words.ts';

const fence = (info: string, body = ''): string => `\`\`\`${info}\n${body}${body === '' ? '' : '\n'}\`\`\``;

describe('fencedCommands', () => {
  it('reads every command as its example in the prompt writes it', () => {
    const words = handsWords('fenced');
    expect(fencedCommands(words)).toEqual([
      { kind: 'read', path: 'src/shapes.js', from: 1, to: 80 },
      { kind: 'search', pattern: 'area\\(', path: 'src' },
      { kind: 'edit', path: 'src/shapes.js', replacements: [{ search: '  return width + height;', replace: '  return width * height;' }] },
      { kind: 'create', path: 'src/circle.js', content: 'export const area = (r) => Math.PI * r * r;\n' },
      { kind: 'delete', path: 'src/old.js' },
      { kind: 'run', command: 'node -e "console.log(1)"' },
      { kind: 'test' },
    ]);
  });

  it.each([
    ['lines behind a colon', fence('read src/a.js:10-20'), { kind: 'read', path: 'src/a.js', from: 10, to: 20 }],
    ['lines in words', fence('read src/a.js lines 3 to 9'), { kind: 'read', path: 'src/a.js', from: 3, to: 9 }],
    ['one line', fence('read src/a.js 7'), { kind: 'read', path: 'src/a.js', from: 7, to: 7 }],
    ['the path in the block', fence('read', 'src/a.js'), { kind: 'read', path: 'src/a.js' }],
    ['a path with a name', fence('read path="src/a.js"'), { kind: 'read', path: 'src/a.js' }],
    ['the pattern behind the word', fence('search merge'), { kind: 'search', pattern: 'merge' }],
    ['another name', fence('grep', 'merge'), { kind: 'search', pattern: 'merge' }],
    ['a command behind the word', fence('run npm test'), { kind: 'run', command: 'npm test' }],
    ['a prompt of a shell', fence('run', '$ ls'), { kind: 'run', command: 'ls' }],
    ['a shell block at the end', `I look.\n${fence('bash', 'ls')}\n`, { kind: 'run', command: 'ls' }],
    ['JSON with a name', fence('json', '{"name": "read", "arguments": {"path": "a.js"}}'), { kind: 'read', path: 'a.js' }],
    ['a call between tags', '<tool_call>\n{"name": "run", "arguments": {"command": "ls"}}\n</tool_call>', { kind: 'run', command: 'ls' }],
    ['thinking before it', `<think>${fence('test')}</think>\n${fence('read a.js')}`, { kind: 'read', path: 'a.js' }],
    ['fences in a new file of Markdown', `\`\`\`\`create README.md\n${fence('js', '1')}\n\`\`\`\``, { kind: 'create', path: 'README.md', content: `${fence('js', '1')}\n` }],
  ])('reads what models write: %s', (_name, reply, command) => {
    expect(fencedCommands(reply)).toEqual([command]);
  });

  it.each([
    ['words', 'The loop starts at 1 instead of 0.'],
    ['code of an answer', fence('js src/a.js', 'export const a = 2;')],
    ['a shell block that shows how to use something', `Start it with\n${fence('bash', 'npm start')}\nand open the page.`],
    ['a diff', fence('diff', '--- a/a\n+++ b/a')],
  ])('takes for a last message: %s', (_name, reply) => {
    expect(fencedCommands(reply)).toEqual([]);
  });

  it.each([
    ['an edit that was cut off', '```edit src/a.js\n<<<<<<< SEARCH\na', /closed/],
    ['an edit without an end in a closed block', fence('edit src/a.js', '<<<<<<< SEARCH\na\n======='), /closed/],
    ['an edit without the form', fence('edit src/a.js', 'const a = 2;'), /SEARCH/],
    ['an edit without a path', fence('edit', '<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE'), /path/],
    ['a new file without a path', fence('create', 'a'), /path/],
    ['a call that is no JSON', fence('json', '{"name": "read", "arguments": {"path": '), /JSON/],
    ['a call without its arguments', fence('json', '{"name": "read"}'), /path/],
  ])('tells back what it cannot read: %s', (_name, reply, reason) => {
    expect(fencedCommands(reply)).toEqual([{ kind: 'unreadable', name: expect.any(String), reason: expect.stringMatching(reason) }]);
  });

  it('reads a long reply in no time', () => {
    const started = performance.now();
    for (const part of ['```read a\n', '<tool_call>', '<think>', '{"name": "read"', '```json\n{\n', ' '.repeat(1_000)]) fencedCommands(part.repeat(20_000));
    expect(performance.now() - started).toBeLessThan(5_000);
  });
});

it('tells back calls of unknown tools and with arguments that are cut off or of another shape', () => {
  expect(commandOfJson('read', '{"path": "a.js", "start_line": "3"}')).toMatchObject({ kind: 'read', path: 'a.js', from: 3 });
  expect(commandOfJson('browse', '{}')).toMatchObject({ kind: 'unreadable', reason: expect.stringContaining('The tools are read') });
  expect(commandOfJson('constructor', '{}')).toMatchObject({ kind: 'unreadable' });
  expect(commandOfJson('run', '{"command": "ls')).toMatchObject({ kind: 'unreadable', reason: expect.stringContaining('cut off') });
  for (const json of ['{"command": 7}', '[]', 'null', '"ls"', '{}']) expect(commandOfJson('run', json), json).toMatchObject({ kind: 'unreadable', name: 'run' });
});
