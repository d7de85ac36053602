import { execFileSync } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, mkdtemp, open, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { trySandbox } from '../setup.ts';
import { contents, isRoot, makeSurroundings, node, SECRET } from './setup.ts';

const { available, note, walls } = await trySandbox();

describe.skipIf(!available)(`a command cannot change what lies outside (${note})`, { timeout: 60_000 }, () => {
  it.each([
    ['by writing a new file', 'echo x > "$OUTSIDE/new"'],
    ['by writing over a file', 'echo x > "$OUTSIDE/file"'],
    ['by appending to a file', 'echo x >> "$OUTSIDE/file"'],
    ['by writing to a file that it has open for reading', 'exec 5< "$OUTSIDE/file"; echo x > /proc/self/fd/5'],
    ['by renaming a file', 'mv "$OUTSIDE/file" "$OUTSIDE/renamed"'],
    ['by deleting a file', 'rm -f "$OUTSIDE/file"'],
    ['by changing rights', 'chmod 777 "$OUTSIDE/file"'],
    ['by changing times', 'touch -d 2001-01-01 "$OUTSIDE/file"'],
    ['through a symbolic link', 'ln -s "$OUTSIDE" way; echo x > way/file'],
    ['through a hard link', 'ln "$OUTSIDE/file" same; echo x > same'],
    ['by putting another link in the place of one', 'rm -f "$OUTSIDE/link"; ln -s /etc "$OUTSIDE/link"'],
    ['by putting a link in the place of a folder', 'mv "$OUTSIDE/folder" "$OUTSIDE/moved"; ln -s "$PWD" "$OUTSIDE/folder"'],
    ['by moving a folder out of the way and back', 'cd "$OUTSIDE"; mv folder c; echo x > c/inner/file; mv c folder'],
    ['by moving the home folder', 'mv "$HOME_OUTSIDE" "$HOME_OUTSIDE-moved"; mkdir "$HOME_OUTSIDE"; mv "$HOME_OUTSIDE-moved/.ssh" "$HOME_OUTSIDE"'],
    ['by leaving a pipe there', 'mkfifo "$OUTSIDE/pipe"'],
    ['by rewriting the configuration of git', 'echo "[alias] x = !sh" >> "$WORKSPACE/.git/config"'],
    ['by rewriting a hook of git', 'echo id > "$WORKSPACE/.git/hooks/pre-commit"'],
    ['by adding a hook of git', 'echo id > "$WORKSPACE/.git/hooks/post-checkout"'],
    ['by adding submodules', 'echo "[submodule]" >> "$WORKSPACE/.gitmodules"'],
    ['by rewriting the settings of VS Code', 'echo x > "$WORKSPACE/.vscode/settings.json"'],
    ['by adding a task to VS Code', 'echo x > "$WORKSPACE/.vscode/tasks.json"'],
    ['by rewriting the settings of IntelliJ', 'echo x > "$WORKSPACE/.idea/workspace.xml"'],
    ['by adding an MCP server', 'echo x > "$WORKSPACE/.mcp.json"'],
    ['by rewriting what the shell runs at its start', 'echo x >> "$HOME_OUTSIDE/.bashrc"; echo x >> "$HOME_OUTSIDE/.profile"; echo x > "$HOME_OUTSIDE/.zshrc"'],
    ['by rewriting the configuration of git for the user', 'echo "[alias] x = !sh" >> "$HOME_OUTSIDE/.gitconfig"'],
  ])('%s', async (_how, attempt) => {
    await using around = await makeSurroundings();
    const places = [around.home, around.workspace, around.outside];
    const before = await contents(...places);
    await around.run(attempt);
    expect(await contents(...places)).toEqual(before);
    // Without walls it does, or the test would show nothing.
    await around.run(attempt, { sandboxed: false });
    expect(await contents(...places)).not.toEqual(before);
  });

  it('by moving its own copy, or what lies beside it', async () => {
    await using around = await makeSurroundings();
    await (await around.folders.create()).remove();
    const before = await contents(around.folders.root);
    await around.run('mv "$PWD" "$PWD-moved"; mv "$PWD/.." "$PWD/../../moved"; echo x > "$PWD/../tools/planted"; echo x > "$PWD/../planted"');
    expect(await contents(around.folders.root)).toEqual(before);
  });

  it('in the folders that everybody may write', async () => {
    await using around = await makeSurroundings();
    const planted = `conductor-escape-${process.pid}`;
    await around.run(`for folder in /tmp /var/tmp /dev/shm /run/lock /run/user/$(id -u); do echo x > "$folder/${planted}"; done`);
    expect(execFileSync('sh', ['-c', `ls -d /tmp/${planted} /var/tmp/${planted} /dev/shm/${planted} /run/lock/${planted} 2>/dev/null || :`]).toString()).toBe('');
  });

  it('through a pipe that another program reads', async () => {
    await using around = await makeSurroundings();
    const folder = await mkdtemp('/tmp/conductor-escape-');
    onTestFinished(() => rm(folder, { recursive: true }));
    const pipe = path.join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = await open(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    onTestFinished(() => reader.close());
    const attempt = `mkdir -p ${folder}; echo reached > ${pipe}`;
    await around.run(attempt);
    await expect(reader.read(Buffer.alloc(9))).rejects.toMatchObject({ code: 'EAGAIN' });
    await around.run(attempt, { sandboxed: false });
    expect((await reader.read(Buffer.alloc(9))).buffer.toString()).toBe('reached\n\0');
  });

  it('through a device that it makes', async () => {
    await using around = await makeSurroundings();
    const { stdout } = await around.run('for kind in c b; do mknod "$kind" "$kind" 1 3 && echo made; done; ls /dev | sort | tr "\\n" " "');
    expect(stdout).toBe('core fd full null ptmx pts random shm stderr stdin stdout tty urandom zero ');
  });

  // Bubblewrap leaves both open, and so root takes the other walls first.
  it.runIf(isRoot && walls === 'namespaces')('by the rights of a device or of what stands for the walls, which root owns', async () => {
    await using around = await makeSurroundings();
    // As they are already.
    const attempt = 'for file in /dev/null /dev/tty /proc/self/fd/0 /proc/1/exe /proc/1/fd/0; do chmod "$(stat -L -c %a "$file")" "$file" && echo changed; done';
    const { stdout, stderr } = await around.run(`${attempt}; echo reaches > /dev/null && head -c 1 /dev/zero | wc -c`);
    expect(stdout).toBe('1\n');
    expect(stderr.match(/Read-only file system/g)).toHaveLength(3);
    expect((await around.run(attempt, { sandboxed: false })).stdout).toMatch(/^changed/);
  });

  it('through settings of the kernel, which root may write', async () => {
    await using around = await makeSurroundings();
    // The program that the kernel starts, as root and outside, where one crashes: written as it is.
    const { stdout } = await around.run('cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern && echo written; find /proc/sys /sys -writable');
    expect(stdout).toBe('');
  });

  it('because nothing but its folders and file systems in memory is mounted to be written', async () => {
    await using around = await makeSurroundings();
    // Where the same place is mounted twice, the later one is what is seen.
    const script = `const fs = require('node:fs'), seen = new Map();
      for (const line of fs.readFileSync('/proc/self/mountinfo', 'utf8').trim().split('\\n')) {
        const [before, after] = line.split(' - '), fields = before.split(' ');
        seen.set(fields[4], { options: fields[5].split(','), type: after.split(' ')[0] });
      }
      console.log([...seen].filter(([, { options, type }]) => options.includes('rw') && !['tmpfs', 'devpts'].includes(type)).map(([place]) => place).join('\\n'));`;
    const { stdout } = await around.run(`${node(script)}; echo "$PWD $TMPDIR"`);
    const lines = stdout.trim().split('\n');
    const own = lines.at(-1)?.split(' ');
    const devices = ['full', 'null', 'random', 'tty', 'urandom', 'zero'].map((name) => `/dev/${name}`);
    expect(lines.slice(0, -1).sort()).toEqual([...(walls === 'bubblewrap' ? devices : []), ...(own ?? [])].sort());
  });
});

it.skipIf(!available)(`a command cannot mark a folder for the next one by an attribute (${note})`, { timeout: 60_000 }, async () => {
  await using around = await makeSurroundings();
  const attempt = `python3 -c 'import os; os.setxattr(".", "user.mark", b"1"); print("marked")'`;
  expect((await around.run(attempt)).stderr).toContain('Operation not supported');
  expect((await around.run(attempt, { sandboxed: false })).stdout).toContain('marked');
});

describe.skipIf(!available)(`a command cannot read a secret (${note})`, { timeout: 60_000 }, () => {
  it.each([
    ['by its name', 'cat "$HOME_OUTSIDE/.ssh/id"'],
    ['by a pattern', 'cat "$HOME_OUTSIDE"/.*/*'],
    ['from the workspace', 'cat "$WORKSPACE/.env"'],
    ['from beside what may be read', 'cd "$OUTSIDE/.."; cat home/.ssh/id'],
    ['through a symbolic link', 'ln -s "$HOME_OUTSIDE" way; cat way/.ssh/id'],
    ['through a hard link', 'ln "$HOME_OUTSIDE/.ssh/id" same; cat same'],
    ['from where it has moved it', 'mv "$HOME_OUTSIDE/.ssh" "$HOME_OUTSIDE/open"; cat "$HOME_OUTSIDE/open/id"'],
    ['from where it has moved its folder', 'mv "$HOME_OUTSIDE" "$OUTSIDE/open"; cat "$OUTSIDE/open/.ssh/id"'],
    ['by way of a process', 'cat /proc/self/root"$HOME_OUTSIDE/.ssh/id"; for root in /proc/[0-9]*/root; do cat "$root$HOME_OUTSIDE/.ssh/id"; done'],
    ['from another project', 'cat "$OUTSIDE/../project/notes.txt"'],
    ['by searching', 'find "$OUTSIDE/.." -type f -exec cat {} +'],
    ['by packing it', 'tar -c -f all.tar -C "$OUTSIDE/.." .; cat all.tar'],
  ])('%s', async (_how, attempt) => {
    await using around = await makeSurroundings();
    const { stdout, stderr } = await around.run(attempt);
    expect(stdout + stderr).not.toContain(SECRET);
    expect((await around.run(attempt, { sandboxed: false })).stdout).toContain(SECRET);
  });

  it('of others, of services or of this very program, of which it sees no file', async () => {
    await using around = await makeSurroundings();
    const places = ['/srv', '/mnt', '/media', '/var/lib', '/var/log', '/var/cache', path.resolve(import.meta.dirname, '../../../backend')];
    const { stdout } = await around.run(`for place in ${places.join(' ')}; do find "$place" -type f -not -path '*fontconfig*' -not -path '*certificates*' -not -path '*/alternatives/*' 2>/dev/null; done`);
    expect(stdout).toBe('');
  });

  it('and where it fails by that, the file that it missed is named', async () => {
    await using around = await makeSurroundings();
    const missed = path.join(around.folder, 'project/notes.txt');
    expect(await around.run(`cat ${missed}`)).toMatchObject({ exitCode: 1, unreadable: missed });
    expect((await around.run('cat /srv/nothing-of-this-name; exit 1')).unreadable).toBeUndefined();
  });

  it('by a link to where it is hidden', async () => {
    await using around = await makeSurroundings();
    const [tools, link] = [path.join(around.folder, 'tools'), path.join(around.home, '.tools')];
    await mkdir(path.join(tools, 'keys'), { recursive: true });
    for (const [file, text] of [['token', SECRET], ['keys/key', SECRET], ['tool', 'found\n']] as const) await writeFile(path.join(tools, file), text);
    await symlink(tools, link);
    const { stdout } = await around.run(`cat ${link}/token ${link}/keys/key ${tools}/token ${tools}/keys/key; cat ${link}/tool ${tools}/tool`, {
      hidden: [path.join(link, 'token'), path.join(tools, 'keys')], readable: [link],
    });
    // The library of bubblewrap's line shows nothing of it.
    expect(stdout).toBe(walls === 'bubblewrap' ? '' : 'found\nfound\n');
  });

  it.runIf(isRoot)('that only root may read', async () => {
    await using around = await makeSurroundings();
    expect((await around.run('cat /etc/shadow; ls /etc/ssh /home /etc/ssl/private')).stdout.replaceAll(/^\/.*:$/gm, '').trim()).toBe('');
  });
});
