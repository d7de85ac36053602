import { expect, it } from 'vitest';
import { pieceLines, shortPath } from '../../backend/cli/piece-lines.ts';

const plain = (_format: unknown, text: string): string => text;
const piece = (path: string, startLine: number, reason: string) => ({ path, startLine, endLine: startLine + 9, reason, tokens: 90 });

it('says of each file which lines are sent, and each reason once', () => {
  const pieces = [piece('src/merge.js', 1, 'defines merge; has outer'), piece('src/sort.js', 4, 'has outer'), piece('src/merge.js', 40, 'has outer')];
  expect(pieceLines(pieces, plain)).toEqual(['src/merge.js:1-10,40-49  defines merge; has outer', 'src/sort.js:4-13  has outer']);
});

it('counts files behind the first sixteen, and ranges behind the first four', () => {
  const many = Array.from({ length: 20 }, (_, number) => piece(`data/${number}.toml`, 1, 'has float'));
  expect(pieceLines(many, plain)).toHaveLength(17);
  expect(pieceLines(many, plain).at(-1)).toBe('and parts of 4 more files; "conductor runs export" lists them all');
  const ranges = [1, 20, 40, 60, 80].map((line) => piece('src/long.js', line, 'has float'));
  expect(pieceLines(ranges, plain)).toEqual(['src/long.js:1-10,20-29,40-49,60-69,…  has float']);
});

it('keeps the name of a file that lies deep, and no line break or command of it', () => {
  expect(shortPath(`${'deep/'.repeat(20)}inf-capital.toml`)).toMatch(/^….*\/inf-capital\.toml$/);
  expect(shortPath(`${'deep/'.repeat(20)}inf-capital.toml`)).toHaveLength(60);
  expect(shortPath('a\n\u001b[2Jb.js')).toBe('a [2Jb.js');
});
