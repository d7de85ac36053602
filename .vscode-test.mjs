// The suite inside the extension host: `npm run test:host`. It needs a build (`npm run build`).
// On Linux x64 it runs in the VS Code that test/e2e/vscode/install.sh installs, where that has been done; elsewhere, and where
// CONDUCTOR_TEST_DESKTOP is set, @vscode/test-cli downloads a desktop VS Code.
import { existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from '@vscode/test-cli';
import { build } from 'esbuild';

const e2e = path.join(import.meta.dirname, 'test', 'e2e');
const testVsCode = path.join(e2e, 'vscode', 'code');
const isInstalled = existsSync(path.join(e2e, 'vscode', 'node_modules', 'code-server'));

// The extension host reads JavaScript. Bundled, the suite also brings the simulator that its runs are answered by.
await build({
  absWorkingDir: import.meta.dirname,
  entryPoints: ['test/e2e/host/extension.test.ts'],
  outdir: 'dist/test-host',
  outExtension: { '.js': '.cjs' },
  bundle: true,
  platform: 'node',
  format: 'cjs',
  target: 'node22',
  external: ['vscode'],
  logLevel: 'warning',
});

const workspaceFolder = path.join(import.meta.dirname, 'dist', 'test-host', 'workspace');
mkdirSync(workspaceFolder, { recursive: true });

export default defineConfig({
  files: 'dist/test-host/*.test.cjs',
  workspaceFolder,
  mocha: {
    ui: 'bdd',
    timeout: 60_000,
    ...(process.env.CONDUCTOR_TEST_RESULTS && { reporter: path.join(e2e, 'host', 'reporter.cjs') }),
  },
  ...(isInstalled && !process.env.CONDUCTOR_TEST_DESKTOP && { useInstallation: { fromPath: testVsCode } }),
});
