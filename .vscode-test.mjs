// The suites inside the extension host (test/*/host/*.host.ts): `npm run test:host`. It needs a build (`npm run build`).
// On Linux x64 it runs in the VS Code that test/e2e/vscode/install.sh installs, where that has been done; elsewhere, and where
// CONDUCTOR_TEST_DESKTOP is set, @vscode/test-cli downloads a desktop VS Code.
import { existsSync, globSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { defineConfig } from '@vscode/test-cli';
import { build } from 'esbuild';

const e2e = path.join(import.meta.dirname, 'test', 'e2e');
const testVsCode = path.join(e2e, 'vscode', 'code');
const isInstalled = existsSync(path.join(e2e, 'vscode', 'node_modules', 'code-server'));

// The extension host reads JavaScript. Bundled, a suite brings along whatever of the backend it tests with.
rmSync(path.join(import.meta.dirname, 'dist', 'test-host'), { recursive: true, force: true });
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: globSync('test/{e2e,extension}/host/*.host.ts', { cwd: import.meta.dirname }),
  outdir: 'dist/test-host',
  entryNames: '[name]',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  external: ['vscode'],
  logLevel: 'warning',
});

// Outside the repository, whose ignore files would hide it from the search for context.
const workspaceFolder = realpathSync(mkdtempSync(path.join(tmpdir(), 'conductor-workspace-')));
process.once('exit', () => rmSync(workspaceFolder, { recursive: true, force: true }));

export default defineConfig({
  files: 'dist/test-host/*.host.cjs',
  workspaceFolder,
  mocha: {
    ui: 'bdd',
    timeout: 60_000,
    ...(process.env.CONDUCTOR_TEST_REPORT && { reporter: path.join(e2e, 'host', 'reporter.cjs') }),
  },
  ...(isInstalled && !process.env.CONDUCTOR_TEST_DESKTOP && { useInstallation: { fromPath: testVsCode } }),
});
