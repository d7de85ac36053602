import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ReadmeError, readmeInside } from '../../packaging/readme.ts';

const docs = path.join(import.meta.dirname, '..', '..', 'docs');
const unpublished = { folder: 'docs', hasRepository: false };
const published = { folder: 'docs', hasRepository: true };

describe('the readme inside a VSIX', () => {
  const markdown = '# One\n\n![A picture](pictures/a.webp)\n\nText and a [link](https://example.org/x).\n\n![badge](https://example.org/b.png)\n';

  it('has no picture that would not show, as long as there is no repository to show it from', () => {
    expect(readmeInside(markdown, unpublished))
      .toBe('# One\n\nText and a [link](https://example.org/x).\n\n![badge](https://example.org/b.png)\n');
  });

  it('names its pictures from the root of the repository, once there is one', () => {
    expect(readmeInside(markdown, published)).toBe(markdown.replace('(pictures/', '(docs/pictures/'));
  });

  it('is refused with a link to a file that nobody has', () => {
    expect(() => readmeInside('See [the sandbox](sandbox.md).', unpublished)).toThrow(ReadmeError);
    expect(() => readmeInside('See [the sandbox](sandbox.md).', published)).toThrow('sandbox.md');
  });

  it('can be made of what is there, pictures included', async () => {
    const page = await readFile(path.join(docs, 'marketplace.md'), 'utf8');
    expect(readmeInside(page, unpublished)).not.toContain('![');
    const pictures = [...readmeInside(page, published).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, file]) => file ?? '');
    expect(pictures.length).toBeGreaterThan(0);
    expect(pictures.filter((file) => !existsSync(path.join(docs, '..', file)))).toEqual([]);
  });
});
