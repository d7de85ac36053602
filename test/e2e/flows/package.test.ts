import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ModelClient } from '../../../backend/lm/process/model-client.ts';
import { binariesIn } from '../../../packaging/binaries.ts';
import { modelFolder, readFigures } from '../../golden/golden.ts';
import { launchBrowser } from '../harness/browser.ts';
import { ARTIFACTS, packedVsix } from '../harness/workbench.ts';
import { VsCodeServer } from '../harness/vscode-server.ts';
import { VsCodeWindow } from '../harness/vscode-window.ts';

const run = promisify(execFile);

describe('the VSIX, once installed', () => {
  let server: VsCodeServer;
  let extension: string;

  beforeAll(async () => {
    server = await VsCodeServer.start({ vsix: [packedVsix()] });
    extension = server.extensionFolder('conductor.conductor');
  });
  afterAll(() => server?.stop());

  it('holds what users need and nothing else', async () => {
    const entries = await readdir(extension, { recursive: true, withFileTypes: true });
    const files = entries
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(extension, path.join(entry.parentPath, entry.name)));
    const expected = [
      /^package\.json$/, /^package\.nls(\.[\w-]+)?\.json$/, /^l10n\/bundle\.l10n(\.[\w-]+)?\.json$/,
      /^(readme|changelog)\.md$/, /^LICENSE\.txt$/, /^THIRD-PARTY-NOTICES\.txt$/, /^\.vsixmanifest$/,
      /^media\/([\w-]+\.svg|icon\.png)$/, /^media\/walkthrough\/[\w-]+\.(svg|png|md)$/,
      /^extension\/chat\/(skills\/conductor\/SKILL|agents\/conductor\.agent)\.md$/,
      /^media\/conductor-mini\/(LICENSE|[\w.]+\.(json|safetensors|md))$/,
      /^dist\/(extension\.cjs|backend\.mjs|cli\.mjs|chunk-[A-Z0-9]+\.mjs|model-process\.mjs|math-process\.mjs|job-process\.mjs|webview\.js|webview\.css|evaluation\.js|evaluation\.css|codicon\.ttf)$/,
      /^dist\/schemas\/(conductor\.train|workers)\.schema\.json$/,
      /^dist\/bin\/rg$/, /^dist\/vendor\/seccomp\/x64\/apply-seccomp$/, /^dist\/vendor\/java-proxy-agent\/srt-proxy-agent\.jar$/,
      /^dist\/node_modules\/@vscode\/tree-sitter-wasm\/(LICENSE|package\.json|wasm\/tree-sitter(\.js|\.wasm|-\w+\.wasm))$/,
      /^dist\/node_modules\/onnxruntime-(node|common)\/package\.json$/,
      /^dist\/node_modules\/onnxruntime-(node\/dist|common\/dist\/cjs)\/([\w-]+\.js|package\.json)$/,
      /^dist\/node_modules\/onnxruntime-node\/bin\/napi-v6\/linux\/x64\/(onnxruntime_binding\.node|libonnxruntime\.so\.1)$/,
    ];
    expect(files.filter((file) => !expected.some((pattern) => pattern.test(file)))).toEqual([]);
    const needed = [
      'extension.cjs', 'backend.mjs', 'cli.mjs', 'model-process.mjs', 'math-process.mjs', 'webview.js', 'webview.css', 'evaluation.js', 'evaluation.css', 'schemas/conductor.train.schema.json',
      'schemas/workers.schema.json', 'bin/rg', 'vendor/seccomp/x64/apply-seccomp',
    ];
    for (const file of needed) {
      expect(files).toContain(`dist/${file}`);
    }
  });

  it('holds machine code for its own platform alone', async () => {
    const binaries = await binariesIn(extension);
    expect(new Set(binaries.map(({ platform }) => platform))).toEqual(new Set(['linux-x64']));
    expect(binaries.map(({ file }) => path.basename(file)).sort())
      .toEqual(['apply-seccomp', 'libonnxruntime.so.1', 'onnxruntime_binding.node', 'rg']);
  });

  it('names what of others is in it, and gives the licences', async () => {
    const notices = await readFile(path.join(extension, 'THIRD-PARTY-NOTICES.txt'), 'utf8');
    // A library in the backend, one in the panel, a package that is copied, one that brings no text, parts of binaries.
    for (const name of ['openai 7', 'preact 10', 'onnxruntime-node 1', '@bufbuild/protobuf 2', 'ripgrep:', 'PCRE2', 'GNU C Library']) {
      expect(notices).toContain(`\n- ${name}`);
    }
    expect(notices).toContain('Copyright (c) 2015 Andrew Gallant');
    // What builds and tests it does not ship.
    expect(notices).not.toMatch(/^- (esbuild|vitest|react|elkjs) /m);
  });

  it('shows a readme with nothing missing, though nobody has more than the VSIX', async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'conductor-readme-'));
    const browser = await launchBrowser();
    try {
      const window = await VsCodeWindow.open(browser, server, folder);
      await window.runCommand('Extensions: Show Installed Extensions');
      await window.page.locator('.extensions-list .monaco-list-row').filter({ hasText: 'Conductor' }).first().click();
      await window.webview().getByRole('heading', { name: 'What leaves your machine' }).waitFor();
      // A picture that VS Code takes the address from stands there without one.
      expect(await window.webview().locator('img:not([src^="https://"])').count()).toBe(0);
      await window.screenshot(path.join(ARTIFACTS, 'package', 'readme.png'));
    } finally {
      await browser.close();
      await rm(folder, { recursive: true });
    }
  });

  it('keeps its helper programs executable', async () => {
    const { stdout } = await run(path.join(extension, 'dist', 'bin', 'rg'), ['--version']);
    expect(stdout).toMatch(/^ripgrep \d/);
    expect((await stat(path.join(extension, 'dist', 'vendor', 'seccomp', 'x64', 'apply-seccomp'))).mode & 0o111).toBe(0o111);
  });

  it('brings a command line that answers without the repository', async () => {
    const { stdout } = await run(process.execPath, [path.join(extension, 'dist', 'cli.mjs'), '--help'], { cwd: server.folder });
    expect(stdout).toContain('conductor solve');
  });

  it('brings what the local model needs: its process runs one without the repository', async () => {
    const { prompts, newTokens, base } = await readFigures('qwen2-tiny');
    const client = new ModelClient({
      settings: { folder: modelFolder('qwen2-tiny'), device: 'cpu', precision: 'full', adapters: true, storage: path.join(server.folder, 'model') },
      script: path.join(extension, 'dist', 'model-process.mjs'),
      chooseDevice: async () => ({ device: 'cpu', reasons: [] }),
      idleMs: 600_000,
    });
    try {
      const rows = await client.generate({ prompts, samples: 1, maxTokens: newTokens, temperature: 0, seeds: prompts.map(() => 0) });
      expect(rows.map(({ tokens }) => tokens)).toEqual(base.greedy.tokens);
    } finally {
      await client.close();
    }
  });
});
