import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { Sandbox } from '../../../backend/verify/sandbox/sandbox.ts';
import { trySandbox } from '../setup.ts';
import { tryProgram } from '../runners/setup.ts';
import { has, makeSurroundings, node, python } from './setup.ts';

const { available, note } = await trySandbox();

describe.skipIf(!available)(`what tests need still works (${note})`, { timeout: 120_000 }, () => {
  it.each([
    ['/dev/null, /dev/zero and /dev/urandom', 'echo x > /dev/null; cat /dev/null; head -c 3 /dev/zero | wc -c; head -c 3 /dev/urandom | wc -c', '3\n3\n'],
    ['standard streams by their names', 'echo in | cat /dev/stdin | tee /dev/fd/1 | cat', 'in\nin\n'],
    [
      'temporary folders, by whatever name they are called',
      'for folder in "$TMPDIR" "$HOME" /tmp /var/tmp /dev/shm "$(mktemp -d)"; do echo x > "$folder/file" && cat "$folder/file"; done',
      'x\nx\nx\nx\nx\nx\n',
    ],
    ['pipelines', 'seq 1 1000 | sort -r | grep 7 | tail -n 1', '107\n'],
    ['pipes with a name', 'mkfifo pipe; echo through > pipe & cat pipe', 'through\n'],
    ['links and rights', 'echo x > a; ln a b; ln -s b c; chmod 500 c; cat c; test -x c && echo executable', 'x\nexecutable\n'],
    ['exit codes of children', 'sh -c "exit 3"; echo $?; (sh -c "kill -9 \\$\\$"); echo $?', '3\n137\n'],
    ['background jobs', 'sleep 0.01 & wait $!; echo $?', '0\n'],
    ['signals', `sh -c 'trap "echo caught; exit" TERM; kill -TERM $$; sleep 10'`, 'caught\n'],
    ['time limits of their own', 'timeout 0.1 sleep 10; echo $?', '124\n'],
    ['locales, and names in any language', 'echo ä > ö; cat ö; ls', 'ä\nö\n'],
    ['rights that are taken away', 'echo x > file; chmod 000 file; cat file 2>/dev/null || echo refused', 'refused\n'],
  ])('%s', async (_what, command, printed) => {
    await using around = await makeSurroundings();
    expect(await around.run(command)).toMatchObject({ stdout: printed, exitCode: 0 });
  });

  it.runIf(has('script'))('a terminal', async () => {
    await using around = await makeSurroundings();
    expect((await around.run(`script -qec 'test -t 1 && tty && stty size' /dev/null`)).stdout).toMatch(/^\/dev\/pts\/\d+\r\n\d+ \d+\r\n$/);
  });

  it.runIf(has('git'))('a repository in the copy, with hooks', async () => {
    await using around = await makeSurroundings();
    const command = [
      'git init -q . && git config user.name a && git config user.email a@example.com',
      'printf "#!/bin/sh\\necho hook\\n" > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit',
      'mkdir .vscode && echo "{}" > .vscode/settings.json && echo > .gitmodules',
      'git add . && git commit -qm first 2>&1 && git log --format=%s',
    ];
    expect(await around.run(command.join(' && '))).toMatchObject({ stdout: 'hook\nfirst\n', exitCode: 0 });
  });

  it.each([
    ['a server on its own loopback', `const s = require('node:http').createServer((q, r) => r.end('served')).listen(0, async () => {
      for (const host of ['127.0.0.1', 'localhost']) console.log(await (await fetch('http://' + host + ':' + s.address().port)).text()); s.close(); s.closeAllConnections(); })`, 'served\nserved\n'],
    ['datagrams on its own loopback', `const d = require('node:dgram').createSocket('udp4', (m) => { console.log(String(m)); d.close(); });
      d.bind(0, '127.0.0.1', () => d.send('sent', d.address().port, '127.0.0.1'))`, 'sent\n'],
    ['child processes that talk to each other', `const child = require('node:child_process').spawn(process.execPath,
      ['-e', 'process.on("message", (n) => { process.send(n + 1); process.disconnect(); })'], { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
      child.on('message', (n) => console.log(n)); child.send(1)`, '2\n'],
    ['threads', `const { Worker } = require('node:worker_threads');
      new Worker('require("node:worker_threads").parentPort.postMessage("from a thread")', { eval: true }).on('message', (m) => console.log(m))`, 'from a thread\n'],
  ])('Node with %s', async (_what, script, printed) => {
    await using around = await makeSurroundings();
    expect(await around.run(node(script))).toMatchObject({ stdout: printed, exitCode: 0 });
  });

  it.runIf(has('python3'))('Python with processes, threads, locks and pools', async () => {
    await using around = await makeSurroundings();
    const script = python(
      'import multiprocessing, threading, subprocess, tempfile',
      'def work(n): return n * n',
      'context = multiprocessing.get_context("fork")',
      'with context.Pool(2) as pool: print(pool.map(work, [1, 2, 3]))',
      'lock = context.Lock()',
      'with lock: pass',
      'thread = threading.Thread(target=print, args=("thread",)); thread.start(); thread.join()',
      'print(subprocess.check_output(["echo", "child"], text=True), end="")',
      'print(tempfile.TemporaryFile().write(b"file"))',
    );
    expect(await around.run(script)).toMatchObject({ stdout: '[1, 4, 9]\nthread\nchild\n4\n', exitCode: 0 });
  });
});

/** By the real home folder, where this machine may have them. */
const TOOLCHAINS = [
  ['node', 'node --version && node -p 1+1'],
  ['npm', 'npm --version'],
  ['python3', `python3 -c 'import json, ssl, sqlite3; print(1)'`],
  ['go', 'go version && go env GOROOT && mkdir m && cd m && printf "module m\\n" > go.mod && printf "package m\\n" > m.go && go vet . '],
  ['cargo', 'cargo --version && rustc --version'],
  ['java', 'java -version'],
  ['gcc', 'echo "int main(void) { return 0; }" > a.c && gcc a.c && ./a.out'],
  ['git', 'git --version'],
] as const;

describe.skipIf(!available)(`toolchains still run (${note})`, { timeout: 120_000 }, () => {
  for (const [program, command] of TOOLCHAINS) {
    const { isHere, note: how } = tryProgram('sh', '-c', `command -v ${program}`);
    it.runIf(isHere)(`${program}${isHere ? '' : ` (${how})`}`, async () => {
      await using around = await makeSurroundings();
      const sandbox = new Sandbox({ searchPath: process.env.PATH ?? '', homeFolder: homedir(), folders: around.folders });
      const folder = await around.folders.create();
      const outcome = await sandbox.run({
        command,
        cwd: folder.report,
        temporary: folder.temporary,
        timeoutMs: 90_000,
        signal: new AbortController().signal,
        sandboxed: true,
      });
      expect(outcome, outcome.stderr).toMatchObject({ exitCode: 0 });
    });
  }
});
