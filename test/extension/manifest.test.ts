import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { TEST_RUNNERS } from '../../backend/protocol/test-runners.ts';
import { parseRoom, textsIn } from './texts.ts';
import { RUNNERS } from '../../backend/verify/runners/runners.ts';

const root = new URL('../../', import.meta.url);
const text = (file: string): Promise<string> => readFile(new URL(file, root), 'utf8');

interface Manifest {
  readonly contributes: {
    readonly commands: readonly { command: string; title: string; category: string }[];
    readonly menus: Readonly<Record<string, readonly { command: string; when?: string }[]>>;
    readonly keybindings: readonly { command: string }[];
    readonly configuration: {
      readonly properties: Readonly<Record<string, { default?: unknown; markdownDescription?: string; scope?: string; enum?: string[] }>>;
    };
  };
  readonly capabilities: {
    readonly untrustedWorkspaces: { readonly supported: string; readonly restrictedConfigurations: readonly string[] };
  };
}

const manifestText = await text('package.json');
const { contributes, capabilities } = JSON.parse(manifestText) as Manifest;
const titles = JSON.parse(await text('package.nls.json')) as Record<string, string>;

describe('the manifest', () => {
  it('names every text it refers to, and no other', () => {
    const referred = [...manifestText.matchAll(/"%([\w.]+)%"/g)].map(([, key]) => key);
    expect([...new Set(referred)].sort()).toEqual(Object.keys(titles).sort());
  });

  it('declares exactly the commands that the extension registers', async () => {
    const registered = [...(await text('extension/extension.ts')).matchAll(/^ {4}'(conductor\.\w+)':/gm)].map(([, id]) => id);
    expect(contributes.commands.map(({ command }) => command).sort()).toEqual(registered.sort());
  });

  it('puts only declared commands into menus and keybindings', () => {
    const declared = new Set(contributes.commands.map(({ command }) => command));
    const used = [...Object.values(contributes.menus).flat(), ...contributes.keybindings].map(({ command }) => command);
    expect(used.filter((command) => !declared.has(command))).toEqual([]);
  });

  it('asks only for context keys that the extension sets', async () => {
    const declarations = await text('extension/common/context-keys.ts');
    const keys = new Set([...declarations.matchAll(/'(\w+)'/g)].map(([, key]) => `conductor.${key}`));
    const asked = Object.values(contributes.menus).flat().flatMap(({ when = '' }) => when.match(/conductor\.\w+/g) ?? []);
    expect(asked.filter((key) => !keys.has(key) && key !== 'conductor.workflow')).toEqual([]);
  });

  it('gives every setting a default and a description', () => {
    for (const [name, setting] of Object.entries(contributes.configuration.properties)) {
      expect(setting, name).toHaveProperty('default');
      expect(setting.markdownDescription, name).toBeTruthy();
    }
  });

  it('offers every test runner that the backend reads, and no other', () => {
    const runners = RUNNERS.map(({ name }) => name);
    expect(TEST_RUNNERS).toEqual(runners);
    expect(contributes.configuration.properties['conductor.testRunner']?.enum).toEqual(['auto', ...runners]);
  });

  it('lets no untrusted workspace choose a command, a program or a folder', () => {
    expect(capabilities.untrustedWorkspaces.supported).toBe('limited');
    expect([...capabilities.untrustedWorkspaces.restrictedConfigurations].sort())
      .toEqual(['conductor.home', 'conductor.nodePath', 'conductor.testCommand', 'conductor.testImage', 'conductor.testReports', 'conductor.testRunner']);
    expect(contributes.configuration.properties['conductor.nodePath']?.scope).toBe('machine');
    expect(contributes.configuration.properties['conductor.home']?.scope).toBe('machine');
    // They decide what is downloaded, from where, and what it runs on.
    const local = Object.entries(contributes.configuration.properties).filter(([name]) => name.startsWith('conductor.localModel.'));
    expect(local.map(([, { scope }]) => scope)).toEqual(['machine', 'machine', 'machine', 'machine']);
  });
});

describe('the texts', () => {
  it('can all be translated: l10n/bundle.l10n.json holds each one (update it with "vitest run test/extension -u")', async () => {
    const rooms = await Promise.all(['extension', 'webview', 'backend/protocol'].map(parseRoom));
    const literals = rooms.flat().flatMap(textsIn);
    expect(literals).not.toContain(undefined);
    const bundle = Object.fromEntries([...new Set(literals)].filter((literal) => literal !== undefined).sort().map((literal) => [literal, literal]));
    await expect(`${JSON.stringify(bundle, undefined, 2)}\n`).toMatchFileSnapshot('../../l10n/bundle.l10n.json');
  });
});
