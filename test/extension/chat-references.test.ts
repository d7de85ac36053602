import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readMessage, type Reference } from '../../extension/chat/chat-references.ts';
import { relativePath } from '../../extension/common/workspace-paths.ts';
import { hashMentions } from '../../backend/context/mentions.ts';

const FOLDER = path.resolve('/project');
const read = (prompt: string, references: readonly Reference[]) =>
  readMessage(prompt, references, (file) => relativePath(FOLDER, file));
const file = (name: string, lines: { startLine?: number; endLine?: number } = {}): Reference['attached'] => ({ kind: 'file', file: path.join(FOLDER, name), ...lines });

describe('a message of a chat', () => {
  it('names the files that are mentioned in it as a question does, wherever they stand', () => {
    const prompt = 'Why does #file:route.ts not call #sym:match of #file:my file.ts?';
    const at = (text: string): [number, number] => [prompt.indexOf(text), prompt.indexOf(text) + text.length];
    const { question, files } = read(prompt, [
      { range: at('#file:route.ts'), attached: file('src/route.ts') },
      { range: at('#sym:match'), attached: file('src/match.ts', { startLine: 9, endLine: 19 }) },
      { range: at('#file:my file.ts'), attached: file('my file.ts') },
    ]);
    expect(question).toBe('Why does #src/route.ts not call #src/match.ts:10-20 of #"my file.ts"?');
    expect(files).toEqual([]);
    expect(hashMentions(question)).toMatchObject([{ path: 'src/route.ts' }, { path: 'src/match.ts', startLine: 10, endLine: 20 }, { path: 'my file.ts' }]);
  });

  it('leads to the files and selections that are attached to it', () => {
    const { question, files } = read('What is wrong here?', [
      { attached: file('src/a.ts') }, { attached: file('src/b.ts', { startLine: 4, endLine: 4 }) },
    ]);
    expect(question).toBe('What is wrong here?');
    expect(files).toEqual([{ path: 'src/a.ts' }, { path: 'src/b.ts', startLine: 5, endLine: 5 }]);
  });

  it('has the pictures that are attached to it, to be read', async () => {
    const picture = (name: string): Reference => ({ attached: { kind: 'picture', name, read: async () => new TextEncoder().encode(name) } });
    const { pictures, leftOut } = read('What is wrong here?', [picture('a.png'), picture('b.png')]);
    expect(await Promise.all(pictures.map(async (one) => new TextDecoder().decode(await one.read())))).toEqual(['a.png', 'b.png']);
    expect(leftOut).toEqual([]);
  });

  it('takes attached text along, and says what cannot go with it', () => {
    const { question, leftOut } = read('Explain.', [
      { attached: { kind: 'text', name: 'Terminal', text: 'Error: no route' } },
      { attached: { kind: 'other', name: 'picture.png' } },
      { attached: { kind: 'file', file: path.resolve('/elsewhere/secret.txt') } },
    ]);
    expect(question).toBe('Explain.\n\nTerminal:\nError: no route');
    expect(leftOut.toSorted()).toEqual([path.resolve('/elsewhere/secret.txt'), 'picture.png']);
  });

  it('stays within what a question may hold', () => {
    const many = Array.from({ length: 200 }, (_, index) => ({ attached: file(`src/${index}.ts`) }));
    const { question, files } = read('Explain.', [...many, { attached: { kind: 'text', name: 'Log', text: 'x'.repeat(1_000_000) } }]);
    expect(files).toHaveLength(64);
    expect(question.length).toBeLessThan(32_000);
  });
});
