import { describe, expect, it } from 'vitest';
import { codeBlocksOf } from '../../extension/common/code-blocks.ts';

describe('codeBlocksOf', () => {
  it('finds every fenced block with its language', () => {
    expect(codeBlocksOf('Do this:\n```ts\nlet a;\n```\nthen\n~~~\nplain\n\ntext\n~~~\n')).toEqual([
      { language: 'ts', code: 'let a;\n' },
      { language: '', code: 'plain\n\ntext\n' },
    ]);
  });

  it('ends a block only at a fence of its own kind and at least its length', () => {
    expect(codeBlocksOf('````md\n```js\n1\n```\n~~~~\n`````\n')).toEqual([{ language: 'md', code: '```js\n1\n```\n~~~~\n' }]);
  });

  it('takes a line with a fence and more behind it for code', () => {
    expect(codeBlocksOf('```\n``` not the end\n```')).toEqual([{ language: '', code: '``` not the end\n' }]);
  });

  it('ends a block that is left open with the text', () => {
    expect(codeBlocksOf('```py\nprint(1)')).toEqual([{ language: 'py', code: 'print(1)\n' }]);
  });

  it('takes inline code for text', () => {
    expect(codeBlocksOf('Use ```code``` here.')).toEqual([]);
  });

  it('reads Windows line ends', () => {
    expect(codeBlocksOf('```ts\r\na\r\n```\r\n')).toEqual([{ language: 'ts', code: 'a\n' }]);
  });
});
