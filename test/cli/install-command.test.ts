import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { CommandContext } from '../../backend/cli/command.ts';
import { installCommand, uninstallCommand } from '../../backend/cli/install-command.ts';
import { AGENTS } from '../../backend/cli/install/agents.ts';
import { InstalledFiles } from '../../backend/cli/install/installed-files.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { GitRepository } from '../verify/git-repository.ts';

let home: string;
let project: string;
let said: string[];
let answer: boolean | undefined;
let variables: Record<string, string>;

beforeEach(async () => {
  home = await temporaryFolder();
  project = path.join(home, 'project');
  await mkdir(project);
  said = [];
  answer = undefined;
  variables = {};
});

const context = (): CommandContext => ({
  terminal: {
    result: (text: string) => said.push(text), say: (text: string) => said.push(text),
    ...(answer !== undefined && { ask: async () => answer === true }),
  },
  environment: { HOME: home, PATH: '', ...variables },
  currentFolder: project,
  conductorFolder: path.join(home, '.conductor'),
  interrupted: new AbortController().signal,
} as unknown as CommandContext);

const install = (...args: string[]): Promise<number> => installCommand([...args, '--yes'], context());
const uninstall = (...args: string[]): Promise<number> => uninstallCommand([...args, '--yes'], context());
const files = async (folder = project): Promise<Record<string, string>> => {
  const found = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  return Object.fromEntries(await Promise.all(found.sort().map(async (file) => [path.relative(folder, file), await readFile(file, 'utf8')])));
};

describe('conductor install', () => {
  it.each(AGENTS.map(({ name }) => name).filter((name) => name !== 'git'))('sets up %s where there was nothing, says what it wrote, and takes all of it back', async (name) => {
    expect(await install(name)).toBe(0);
    const written = await files();
    expect(Object.keys(written).length).toBeGreaterThan(0);
    expect(Object.values(written).join('')).toContain('mcp');
    expect(Object.values(written).join('')).toMatch(/hook\W{1,4}stop\W{1,4}--timeout/);
    for (const file of Object.keys(written)) expect(said.join('\n')).toContain(path.join(project, file));
    said = [];
    expect(await install(name)).toBe(0);
    expect(said).toEqual([`Nothing to do: ${name} has Conductor already.`]);
    expect(await uninstall(name)).toBe(0);
    expect(await files()).toEqual({});
    expect(await readdir(project)).toEqual([]);
  });

  it('writes its own file again that an earlier version wrote, and no other one', async () => {
    const plugin = path.join(project, '.opencode', 'plugins', 'conductor.js');
    await install('opencode');
    const written = await readFile(plugin, 'utf8');
    await new InstalledFiles(path.join(home, '.conductor')).set(plugin, { before: null, after: '// an earlier version' });
    await writeFile(plugin, '// an earlier version');
    expect(await install('opencode')).toBe(0);
    expect(await readFile(plugin, 'utf8')).toBe(written);
    await writeFile(plugin, `${written}// mine`);
    await expect(install('opencode')).rejects.toThrow('is there already, with another text');
  });

  const SETTINGS = '{\r\n\t// mine\r\n\t"permissions": { "allow": ["Bash(ls)"], },\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{ "hooks": [{ "type": "command", "command": "say done" }] }\r\n\t\t]\r\n\t}\r\n}';

  it('keeps comments, order, line ends and others\' hooks, and gives the file back to the byte', async () => {
    const file = path.join(project, '.claude', 'settings.json');
    await mkdir(path.dirname(file));
    await writeFile(file, SETTINGS);
    await install('claude');
    const after = await readFile(file, 'utf8');
    expect(after).toContain('\t// mine\r\n\t"permissions": { "allow": ["Bash(ls)"], },\r\n');
    expect(after).toMatch(/"say done"[\s\S]*hook stop --timeout/);
    expect(after.replaceAll('\r\n', '')).not.toContain('\n');
    await uninstall('claude');
    expect(await files()).toEqual({ '.claude/settings.json': SETTINGS });
  });

  it('takes back its own part alone where the file was changed since', async () => {
    const file = path.join(project, '.claude', 'settings.json');
    await mkdir(path.dirname(file));
    await writeFile(file, SETTINGS);
    await install('claude');
    await writeFile(file, (await readFile(file, 'utf8')).replace('// mine', '// mine, and later'));
    await uninstall('claude');
    const after = await readFile(file, 'utf8');
    expect(after).toContain('// mine, and later');
    expect(after).toContain('say done');
    expect(after).not.toContain('hook stop');
  });

  it('adds a table to a TOML file and takes it back, with what was written behind it left alone', async () => {
    const file = path.join(project, '.codex', 'config.toml');
    await mkdir(path.dirname(file));
    await writeFile(file, 'model = "x" # mine');
    await install('codex');
    expect(await readFile(file, 'utf8')).toMatch(/^model = "x" # mine\n\n\[mcp_servers\.conductor\]\ncommand = ".*"\nargs = \[.*"mcp"\]\n/);
    await writeFile(file, `${await readFile(file, 'utf8')}\n[other]\na = 1\n`);
    await uninstall('codex');
    expect(await readFile(file, 'utf8')).toBe('model = "x" # mine\n\n[other]\na = 1\n');
  });

  it('makes a hook of Git that can be run, where Git looks for it, and leaves another\'s alone', async () => {
    await expect(install('git')).rejects.toThrow('There is no Git repository');
    new GitRepository(project).git('status');
    const hook = path.join(project, '.git', 'hooks', 'pre-push');
    await install('git');
    expect([(await stat(hook)).mode & 0o777, await readFile(hook, 'utf8')]).toEqual([0o755, expect.stringMatching(/^#!\/bin\/sh\n[\s\S]* hook pre-push "\$@"\n$/)]);
    await uninstall('git');
    await expect(stat(hook)).rejects.toThrow('ENOENT');
    await writeFile(hook, '#!/bin/sh\nexit 0\n');
    await expect(install('git')).rejects.toThrow('is there already');
    expect(await readFile(hook, 'utf8')).toBe('#!/bin/sh\nexit 0\n');
  });

  it('writes to the home folder for all projects, and to a new file what the agent wants in it', async () => {
    await install('cursor', '--user');
    expect(JSON.parse(await readFile(path.join(home, '.cursor', 'hooks.json'), 'utf8'))).toMatchObject({ version: 1, hooks: { stop: [{ timeout: 300 }] } });
    expect(await files()).toEqual({});
  });

  it.each([
    ['claude', 'CLAUDE_CONFIG_DIR', ['.claude.json', 'settings.json']], ['codex', 'CODEX_HOME', ['config.toml', 'hooks.json']], ['gemini', 'GEMINI_CLI_HOME', ['.gemini/settings.json']], ['opencode', 'XDG_CONFIG_HOME', ['opencode/opencode.json', 'opencode/plugins/conductor.js']],
  ])('writes for all projects to where %s is told to look by %s', async (name, variable, expected) => {
    variables = { [variable]: path.join(home, 'elsewhere') };
    await install(name, '--user');
    expect(Object.keys(await files(home)).filter((file) => !file.startsWith('.conductor'))).toEqual(expected.map((file) => `elsewhere/${file}`));
    await uninstall(name, '--user');
    expect(await readdir(home)).toEqual(['.conductor', 'project']);
  });

  it.each([
    ['claude', '.claude/settings.json', '{\n  "hooks": {\n    "Stop": [\n      { "hooks": [{ "type": "command", "command": "/old/node /old/cli.mjs hook stop --timeout 280", "timeout": 300 }] }\n    ]\n  }\n}\n'],
    ['claude', '.mcp.json', '{ "mcpServers": { "conductor": { "command": "/old/node", "args": ["/old/cli.mjs", "mcp"] } } }'],
    ['codex', '.codex/config.toml', 'a = 1\n\n[mcp_servers.conductor]\ncommand = "/old/node"\nargs = ["/old/cli.mjs","mcp"]\ntool_timeout_sec = 1200\n'],
    ['codex', '.codex/config.toml', '[mcp_servers.conductor]\ncommand = "/old/node"\nargs = ["/old/cli.mjs","mcp"]\nenv_vars = ["CONDUCTOR_HOME", "OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "DEEPSEEK_API_KEY", "OPENROUTER_API_KEY"]\ntool_timeout_sec = 1200\n'],
  ])('writes anew for %s, in %s, what starts a program that is another one by now, and takes it back', async (name, file, text) => {
    await mkdir(path.dirname(path.join(project, file)), { recursive: true });
    await writeFile(path.join(project, file), text);
    await install(name);
    const after = await readFile(path.join(project, file), 'utf8');
    expect(after).not.toContain('/old/');
    expect(after.split(process.execPath)).toHaveLength(2);
    await uninstall(name);
    expect(Object.values(await files()).join('')).not.toMatch(/conductor|hook stop/);
  });

  it('leaves alone what a person changed of its part, also beside another hook', async () => {
    await install('claude');
    const file = path.join(project, '.claude', 'settings.json');
    const patient = (await readFile(file, 'utf8')).replace('--timeout 280', '--timeout 100');
    await writeFile(file, patient);
    said = [];
    await install('claude');
    expect([said, await readFile(file, 'utf8')]).toEqual([['Nothing to do: claude has Conductor already.'], patient]);
    const beside = JSON.stringify({ hooks: { Stop: [{ hooks: [{ type: 'command', command: 'say done' }, { type: 'command', command: 'conductor hook stop --timeout 280' }] }] } });
    await writeFile(file, beside);
    await uninstall('claude');
    expect(await readFile(file, 'utf8')).toBe(beside);
  });

  it('has Codex hand on the variables that it would keep from the server, and leaves alone those that a person names', async () => {
    const file = path.join(project, '.codex', 'config.toml');
    await install('codex');
    const installed = await readFile(file, 'utf8');
    expect(installed).toMatch(/^env_vars = \["CONDUCTOR_HOME", "OPENAI_API_KEY", /m);
    const own = installed.replace('"CONDUCTOR_HOME"', '"MY_KEY", "CONDUCTOR_HOME"');
    await writeFile(file, own);
    await install('codex');
    expect(await readFile(file, 'utf8')).toBe(own);
  });

  it('adds the hook and the tools of Gemini CLI to one file, beside what is there, and takes both back', async () => {
    const file = path.join(project, '.gemini', 'settings.json');
    const others = { hooks: { AfterAgent: [{ hooks: [{ type: 'command', command: 'say done' }] }] }, mcpServers: { other: { command: 'other' } } };
    const before = `// mine\n${JSON.stringify(others, undefined, 4)}\n`;
    await mkdir(path.dirname(file));
    await writeFile(file, before);
    await install('gemini');
    const after = await readFile(file, 'utf8');
    expect(after).toMatch(/^\/\/ mine\n[^]*"say done"[^]*hook stop --timeout 280"[^]*"timeout": 300000[^]*"args": \[[^\]]*"mcp"\s*\][^]*"OPENAI_API_KEY": "\$OPENAI_API_KEY"[^]*"timeout": 1200000/);
    await writeFile(file, after.replace('// mine', '// mine, and later'));
    await uninstall('gemini');
    expect(await readFile(file, 'utf8')).toBe(before.replace('// mine', '// mine, and later'));
    await writeFile(file, before);
    await install('gemini');
    await uninstall('gemini');
    expect(await readFile(file, 'utf8')).toBe(before);
  });

  it('reads a table of a person however it is spaced, so that there are not two', async () => {
    const file = path.join(project, '.codex', 'config.toml');
    await mkdir(path.dirname(file));
    await writeFile(file, '[ mcp_servers."conductor" ] # mine\ncommand = "conductor"\n');
    await install('codex');
    expect(await readFile(file, 'utf8')).toBe('[ mcp_servers."conductor" ] # mine\ncommand = "conductor"\n');
  });

  it('keeps the byte order mark of a file', async () => {
    const file = path.join(project, '.mcp.json');
    await writeFile(file, '\uFEFF{ "mcpServers": {} }');
    await install('claude');
    expect(await readFile(file, 'utf8')).toMatch(/^\uFEFF\{\s*"mcpServers": \{[\s\S]*"mcp"/);
    await uninstall('claude');
    expect(await readFile(file, 'utf8')).toBe('\uFEFF{ "mcpServers": {} }');
  });

  it.each([['{ "hooks": ', 'no JSON object that can be read (line 1)'], ['{ "hooks": { "Stop": {} } }', 'no array at "hooks.Stop"'], ['[]', 'no JSON object']])(
    'changes nothing at all where a file cannot be read: %s', async (text, message) => {
      const file = path.join(project, '.claude', 'settings.json');
      await mkdir(path.dirname(file));
      await writeFile(file, text);
      await expect(install('claude')).rejects.toThrow(message);
      expect(await files()).toEqual({ '.claude/settings.json': text });
    });

  it('shows the change and asks first; without somebody to ask it writes nothing', async () => {
    await expect(installCommand(['claude'], context())).rejects.toThrow('--yes makes this change');
    answer = false;
    expect(await installCommand(['claude'], context())).toBe(1);
    expect(said.join('\n')).toMatch(/^\+ {2}"hooks": \{$/m);
    expect(await installCommand(['claude', '--dry-run'], context())).toBe(0);
    expect(await files()).toEqual({});
    answer = true;
    expect(await installCommand(['claude'], context())).toBe(0);
    expect(Object.keys(await files())).toEqual(['.claude/settings.json', '.mcp.json']);
    await expect(install('emacs')).rejects.toThrow('takes one agent, or git: claude, codex, copilot, cursor, gemini, opencode, git');
  });
});
