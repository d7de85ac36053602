import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { PageError, pageInside } from '../../packaging/page.ts';

const root = path.join(import.meta.dirname, '..', '..');
const unpublished = { folder: 'docs', hasRepository: false };
const published = { folder: 'docs', hasRepository: true };

describe('a page inside a VSIX', () => {
  const markdown = '# One\n\n![A picture](pictures/a.webp)\n\nText and a [link](https://example.org/x).\n\n![badge](https://example.org/b.png)\n';

  it('has no picture that would not show, as long as there is no repository to show it from', () => {
    expect(pageInside(markdown, unpublished))
      .toBe('# One\n\nText and a [link](https://example.org/x).\n\n![badge](https://example.org/b.png)\n');
  });

  it('names its pictures from the root of the repository, once there is one', () => {
    expect(pageInside(markdown, published)).toBe(markdown.replace('(pictures/', '(docs/pictures/'));
  });

  it('is refused with a link to a file that nobody has', () => {
    expect(() => pageInside('See [the sandbox](sandbox.md).', unpublished)).toThrow(PageError);
    expect(() => pageInside('See [the sandbox](sandbox.md).', published)).toThrow('sandbox.md');
  });

  it('can be made of the readme, pictures included', async () => {
    const page = await readFile(path.join(root, 'docs/marketplace.md'), 'utf8');
    expect(pageInside(page, unpublished)).not.toContain('![');
    const pictures = [...pageInside(page, published).matchAll(/!\[[^\]]+\]\(([^)]+)\)/g)].map(([, file]) => file ?? '');
    expect(pictures.length).toBeGreaterThan(0);
    expect(pictures.filter((file) => !existsSync(path.join(root, file)))).toEqual([]);
  });

  it('can be made of the list of changes', async () => {
    const changes = await readFile(path.join(root, 'CHANGELOG.md'), 'utf8');
    expect(pageInside(changes, unpublished)).toBe(changes);
  });
});
