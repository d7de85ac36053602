// @vitest-environment jsdom
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeBlocksOf, excerptOf, renderMarkdown } from '../../../webview/markdown/render-markdown.ts';
import { HOSTILE } from '../fixtures.ts';

function dom(text: string): HTMLElement {
  const root = document.createElement('div');
  root.innerHTML = renderMarkdown(text).map((part) => (part.kind === 'html' ? part.html : '')).join('');
  return root;
}

const ACTIVE = /^(A|IMG|SCRIPT|IFRAME|SVG|STYLE|LINK|FORM|INPUT|VIDEO|AUDIO|OBJECT|EMBED|MATH|TEMPLATE)$/i;

/** Everything by which HTML could act: elements beyond text, and attributes beyond two. */
function dangers(root: HTMLElement): string[] {
  return [...root.querySelectorAll('*')].flatMap((element) => [
    ...(ACTIVE.test(element.tagName) ? [element.tagName] : []),
    ...[...element.attributes].map(({ name }) => name).filter((name) => name !== 'class' && name !== 'start'),
  ]);
}

describe('renderMarkdown', () => {
  it('renders prose', () => {
    const root = dom('They *differ*:\n\n1. `merge` keeps\n2. **sorts**\n\n> quoted\n\n| a | b |\n|---|---|\n| 1 | 2 |');
    expect(root.querySelector('em')?.textContent).toBe('differ');
    expect(root.querySelectorAll('ol > li')).toHaveLength(2);
    expect(root.querySelector('li code')?.textContent).toBe('merge');
    expect(root.querySelector('blockquote')?.textContent?.trim()).toBe('quoted');
    expect(root.querySelectorAll('td')).toHaveLength(2);
  });

  it('sets code blocks apart, with their language and without the rest of the info string', () => {
    const parts = renderMarkdown('before\n\n```ts path=src/a.ts\nconst a = 1;\n```\nafter');
    expect(parts.map((part) => part.kind)).toEqual(['html', 'code', 'html']);
    expect(parts[1]).toEqual({ kind: 'code', language: 'ts', code: 'const a = 1;' });
  });

  it.each([
    ['a block of search and replace', '<<<<<<< SEARCH\n  # one\n=======\n  # two\n> three\n>>>>>>> REPLACE'],
    ['one that is not finished', '<<<<<<< SEARCH\n  # one\n=======\n- two'],
    ['a patch', '*** Begin Patch\n*** Update File: a.js\n@@\n-one\n+two\n*** End Patch'],
    ['a diff', '--- a/a.js\n+++ b/a.js\n@@ -1,3 +1,3 @@\n one\n\n-two\n+two *and* three'],
    ['a diff of Git', 'diff --git a/a.js b/a.js\nindex 1c2f..3d4e 100644\n--- a/a.js\n+++ b/a.js\n@@ -1 +1 @@\n-# two\n+# three'],
  ])('shows %s without a fence as code', (_, change) => {
    const isOpen = !/REPLACE|End Patch|\+/.test(change);
    const parts = renderMarkdown(`It stops one too early.\n\nsrc/a.js\n${change}${isOpen ? '' : '\n\nThat is *all*.'}`);
    expect(parts.map((part) => part.kind)).toEqual(['html', 'code', ...(isOpen ? [] : ['html'])]);
    expect(parts[1]).toMatchObject({ code: change });
    expect(excerptOf(`It stops.\n\n${change}`)).toBe('It stops.');
  });

  it('leaves code in fences as it is, whatever is in it', () => {
    const code = '<<<<<<< SEARCH\none\n=======\n```\ntwo\n>>>>>>> REPLACE';
    expect(renderMarkdown(`~~~\n${code}\n~~~\n`)).toEqual([{ kind: 'code', language: '', code }]);
    expect(renderMarkdown(code)).toEqual([{ kind: 'code', language: '', code }]);
  });

  it('shows rules, lists and headings with a line below as what they are', () => {
    const root = dom('Two cases\n=======\n\n- one\n- two\n\n--- \n\n*** \n\ndiff is small');
    expect(root.querySelectorAll('hr')).toHaveLength(2);
    expect(root.querySelectorAll('li')).toHaveLength(2);
    expect(root.querySelector('.heading')?.textContent).toBe('Two cases');
  });

  it('yields no element or attribute that could act, for hostile text', () => {
    const root = dom(HOSTILE);
    expect(dangers(root)).toEqual([]);
    expect(root.textContent).toContain('<script>alert(2)</script>');
  });

  it('yields none for arbitrary text either', () => {
    const bits = fc.constantFrom(
      '<img src=x onerror=alert(1)>', '<script>', '</script>', '[a](javascript:b)',
      '![i](http://x/y.png)', '<a href="//x">', '`', '```', '\n', '> ',
      '- ', '<svg onload=x>', '"', "'", '&lt;', '&#x3c;script&#x3e;', '<!--', '-->', ']]>', '<style>',
      '|', '---', '[x]: javascript:y', '[x]', '<http://a>',
    );
    fc.assert(fc.property(fc.array(fc.oneof(bits, fc.string()), { maxLength: 20 }), (pieces) => {
      expect(dangers(dom(pieces.join('')))).toEqual([]);
    }), { numRuns: 1_000 });
  });

  it('shows where a link would lead, once, and lets nobody follow it', () => {
    const root = dom('[docs](https://example.org/docs) <https://example.org>');
    expect(root.querySelector('a')).toBeNull();
    expect(root.textContent?.trim()).toBe('docs (https://example.org/docs) https://example.org');
  });

  it('shows an image as its description', () => {
    expect(dom('![a pixel](https://evil.example/p.png)').textContent?.trim()).toBe('[image: a pixel]');
  });

  it('keeps headings out of the outline of the page', () => {
    const root = dom('# Title\n\n## Part');
    expect(root.querySelector('h1, h2')).toBeNull();
    expect(root.querySelectorAll('p.heading strong')).toHaveLength(2);
  });

  it('makes characters visible that reorder code inside of a line', () => {
    expect(dom('`a\u202Eb`').querySelector('code')?.textContent).toBe('a⟨U+202E⟩b');
  });
});

describe('codeBlocksOf', () => {
  it('gives the code as it was written', () => {
    expect(codeBlocksOf('x\n```js\na\u202E\n```\n\n    indented\n')).toEqual(['a\u202E', 'indented']);
  });
});

describe('excerptOf', () => {
  it('gives the words without their markup, on one line', () => {
    const text = '# Fix\n\n**Both** cases: `a` is *not* [here](x).\n```ts\nconst b = 2;\n```';
    expect(excerptOf(text)).toBe('Fix Both cases: a is not here.');
  });

  it('gives the lines of a text that is only code as they are, also where it is cut off', () => {
    const code = '/**\n * Coins.\n */\nconst COINS = [1, 2];';
    expect(excerptOf(`\`\`\`js path=a.js\n${code}\n\`\`\`\n`)).toBe(code);
    expect(excerptOf(`\`\`\`js\n${`${code}\n`.repeat(500)}`)).toMatch(/^\/\*\*\n \* Coins\.\n/);
  });

  it('looks at the beginning only', () => {
    expect(excerptOf('word '.repeat(1_000_000)).length).toBeLessThanOrEqual(280);
  });
});
