import path from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';

const vscode = vi.hoisted(() => ({
  isTrusted: true,
  folders: [] as { uri: { scheme: string; fsPath: string } }[],
  extension: undefined as unknown,
  settings: {} as Record<string, string>,
}));
vi.mock('vscode', () => ({
  workspace: {
    get isTrusted() { return vscode.isTrusted; },
    get workspaceFolders() { return vscode.folders; },
    getConfiguration: () => ({ get: (name: string) => vscode.settings[name] }),
  },
  extensions: { getExtension: (id: string) => (id === 'ms-python.python' ? vscode.extension : undefined) },
}));

const { environmentFolder, personPython } = await import('../../extension/tests/person-python.ts');

afterEach(() => {
  vscode.isTrusted = true;
  [vscode.folders, vscode.extension, vscode.settings] = [[], undefined, {}];
});

const open = (fsPath: string): void => void vscode.folders.push({ uri: { scheme: 'file', fsPath } });
const withExtension = (isActive: boolean, exports: unknown): void => void (vscode.extension = { isActive, exports });

it('is what the Python extension says of an open folder', () => {
  open('/code/shop');
  withExtension(true, { environments: { getActiveEnvironmentPath: ({ fsPath }: { fsPath: string }) => ({ id: '1', path: `/envs${fsPath}/bin/python` }) } });
  vscode.settings = { defaultInterpreterPath: '/envs/other/bin/python' };
  expect(personPython('/code/shop')).toEqual({ folder: '/envs/code/shop', isChosen: true });
  expect(personPython('/code/other')).toBeNull();
});

it('is that of the setting where the extension has not started, is of another kind, or is not there', () => {
  open('/code/shop');
  vscode.settings = { defaultInterpreterPath: '${workspaceFolder}/envs/one/bin/python3.12' };
  for (const [isActive, exports] of [[false, undefined], [true, undefined], [true, {}], [true, { environments: { getActiveEnvironmentPath: () => undefined } }]] as const) {
    withExtension(isActive, exports);
    expect(personPython('/code/shop')).toEqual({ folder: '/code/shop/envs/one', isChosen: true });
  }
  vscode.extension = undefined;
  vscode.settings = { defaultInterpreterPath: 'python' };
  expect(personPython('/code/shop')).toBeNull();
});

it('is in the folder of the workspace, whatever its name is', () => {
  open("/code/a$&b$'");
  vscode.settings = { defaultInterpreterPath: '${workspaceFolder}/.venv/bin/python' };
  expect(personPython("/code/a$&b$'")).toEqual({ folder: "/code/a$&b$'/.venv", isChosen: true });
});

it('is not taken from the settings of a workspace that is not trusted', () => {
  open('/code/shop');
  withExtension(true, { environments: { getActiveEnvironmentPath: () => ({ path: '/code/shop/planted/bin/python' }) } });
  vscode.isTrusted = false;
  expect(personPython('/code/shop')).toBeNull();
});

it.each([
  ['/envs/a/bin/python', path.posix, '/envs/a'],
  ['/envs/a/bin/python3.12', path.posix, '/envs/a'],
  ['/opt/miniconda3/envs/a', path.posix, '/opt/miniconda3/envs/a'],
  ['python3', path.posix, undefined],
  ['C:\\envs\\a\\Scripts\\python.exe', path.win32, 'C:\\envs\\a'],
  ['C:\\miniconda3\\envs\\a\\python.exe', path.win32, 'C:\\miniconda3\\envs\\a'],
] as const)('lies around %s', (python, at, folder) => {
  expect(environmentFolder(python, at)).toBe(folder);
});
