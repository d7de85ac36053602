// @vitest-environment jsdom
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const text = (file: string): Promise<string> => readFile(path.join(import.meta.dirname, '../..', file), 'utf8');

interface Step {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly media: { readonly svg: string; readonly altText: string };
  readonly completionEvents: readonly string[];
}
const { contributes } = JSON.parse(await text('package.json')) as {
  contributes: { commands: { command: string }[]; walkthroughs: { id: string; steps: Step[] }[] };
};
const texts = JSON.parse(await text('package.nls.json')) as Record<string, string>;
const said = (reference: string): string => texts[reference.slice(1, -1)] ?? '';
const commands = new Set(contributes.commands.map(({ command }) => command));
const contextKeys = await text('extension/common/context-keys.ts');
const [walkthrough, ...others] = contributes.walkthroughs;

describe('the walkthrough', () => {
  it('is one, and short', () => {
    expect(others).toEqual([]);
    expect(walkthrough?.steps).toHaveLength(5);
  });

  it.each(walkthrough?.steps ?? [])('leads from "$id" on with commands that there are', ({ description, title }) => {
    expect(said(title)).not.toBe('');
    const named = [...said(description).matchAll(/\]\(command:([\w.]+)\)/g)].map(([, command]) => command);
    expect(named).not.toEqual([]);
    expect(named.filter((command) => !commands.has(command ?? ''))).toEqual([]);
  });

  it.each(walkthrough?.steps ?? [])('knows when "$id" is done, however it was', ({ completionEvents }) => {
    expect(completionEvents).toHaveLength(1);
    const [, key = ''] = /^onContext:conductor\.(did\w+)$/.exec(completionEvents[0] ?? '') ?? [];
    expect(contextKeys).toContain(`'${key}'`);
  });

  it.each(walkthrough?.steps ?? [])('shows "$id" in the colours of the theme, and says what is to be seen', async ({ media }) => {
    expect(said(media.altText).length).toBeGreaterThan(30);
    const picture = new DOMParser().parseFromString(await text(media.svg), 'image/svg+xml');
    expect(picture.documentElement.getAttribute('viewBox')).toBe('0 0 600 400');
    expect(picture.querySelectorAll('script, image, a, foreignObject, animate')).toHaveLength(0);
    const colours = [...picture.querySelectorAll('[fill], [stroke]')].flatMap((element) =>
      ['fill', 'stroke'].map((name) => element.getAttribute(name)).filter((colour) => colour !== null && colour !== 'none'));
    expect(colours.length).toBeGreaterThan(10);
    expect(colours.filter((colour) => !/^var\(--vscode-[\w-]+, .+\)$/.test(colour ?? ''))).toEqual([]);
    // VS Code takes style attributes away.
    expect(picture.querySelectorAll('[style], style')).toHaveLength(0);
  });
});
