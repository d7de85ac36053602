import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { macLine, macProfile } from '../../../backend/verify/sandbox/walls/mac-line.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { parse, Profile, type Attempt, type Reading } from './sandbox-profile.ts';

/** A Mac in small: a home with a toolchain in it, a workspace with dependencies, and the folders of a run beside those of another one. */
async function makePlaces() {
  const folder = await temporaryFolder();
  const at = (...names: readonly string[]): string => path.join(folder, ...names);
  const places = {
    home: at('Users/me'), toolchain: at('Users/me/.nvm'), secret: at('Users/me/.nvm/credentials'), workspace: at('Users/me/project'), dependencies: at('Users/me/project/node_modules'),
    runs: at('Users/me/Library/conductor/runs'), copy: at('Users/me/Library/conductor/runs/1-abcdef/workspace'), temporary: at('Users/me/Library/conductor/runs/1-abcdef/temporary'), other: at('Users/me/Library/conductor/runs/2-abcdef/workspace'),
  };
  for (const place of Object.values(places)) await mkdir(place, { recursive: true });
  const { home, toolchain, secret, workspace, dependencies, runs, copy, temporary } = places;
  return { ...places, walls: { hidden: [home, secret, workspace, runs], readable: [toolchain, dependencies], writable: [copy, temporary] } };
}
type Places = Awaited<ReturnType<typeof makePlaces>>;

const WRITES = ['file-write-data', 'file-write-create', 'file-write-unlink', 'file-write-mode', 'file-write-times', 'file-write-owner', 'file-write-flags'];
const READS = ['file-read-data', 'file-read-metadata', 'file-read-xattr'];
const each = (operations: readonly string[], file: string): Attempt[] => operations.map((operation) => ({ operation, path: file, type: 'REGULAR-FILE' }));

/** The attempts of `test/verify/escape`, as a profile is asked about them. */
const DENIED: Readonly<Record<string, (places: Places) => readonly Attempt[]>> = {
  'writing outside': ({ home, workspace, other, dependencies, toolchain }) => [
    `${home}/.bashrc`, `${home}/.gitconfig`, `${workspace}/.git/hooks/pre-commit`, `${workspace}/.vscode/tasks.json`, `${workspace}/src/main.js`, `${other}/file`, `${dependencies}/dep/index.js`, `${toolchain}/bin/node`,
    '/usr/local/bin/node', '/private/tmp/planted', '/private/var/tmp/planted', '/private/etc/hosts', '/Library/LaunchAgents/planted.plist', '/Applications/planted', '/Volumes/disk/file', '/dev/disk0',
  ].flatMap((file) => each(WRITES, file)),
  'moving its own copy, or what lies beside it': ({ copy, runs }) => [path.dirname(copy), runs, `${path.dirname(copy)}/planted`].flatMap((file) => each(['file-write-unlink', 'file-write-create'], file)),
  'reading secrets': ({ home, workspace, other, secret }) => [
    `${home}/.ssh/id`, `${home}/.config/token`, `${home}/Library/Keychains/login.keychain-db`, `${workspace}/.env`, `${home}/other-project/notes.txt`, `${other}/answer`, secret, '/Users/somebody/file', '/Volumes/disk/file',
    '/private/var/folders/ab/cd/T/token', '/private/tmp/token', '/private/var/db/dslocal/nodes/Default/users/me.plist', '/private/var/root/file', '/private/var/log/system.log', '/Library/Keychains/System.keychain', '/Library/Application Support/program/token',
  ].flatMap((file) => each(READS, file)),
  'listing hidden folders': ({ home, runs }) => [home, runs, '/Users', '/Volumes', '/private/tmp', '/private/var/folders'].map((folder) => ({ operation: 'file-read-data', path: folder, type: 'DIRECTORY' })),
  'marking a folder by an attribute, or a file as another user\'s': ({ copy }) => [copy, `${copy}/file`].flatMap((file) => each(['file-write-xattr', 'file-write-setugid'], file)),
  'the network, and the sockets of services': () => [
    { operation: 'network-outbound', address: '93.184.216.34:443' }, { operation: 'network-outbound', address: '127.0.0.1:631' }, { operation: 'network-outbound', path: '/private/var/run/mDNSResponder' },
    { operation: 'network-outbound', path: '/private/var/run/docker.sock' }, { operation: 'network-bind', address: '0.0.0.0:80' }, { operation: 'network-inbound', address: '127.0.0.1:80' }, { operation: 'system-socket', domain: 'AF_UNIX' }, { operation: 'system-socket', domain: 'AF_ROUTE' },
  ],
  'keychains, other programs and what leads to them': () => [
    ...['com.apple.SecurityServer', 'com.apple.securityd.xpc', 'com.apple.coreservices.launchservicesd', 'com.apple.pasteboard.1', 'com.apple.coreservices.appleevents', 'com.apple.cfprefsd.agent', 'com.apple.distributed_notifications@Uv3', 'com.apple.windowserver.active', 'com.apple.tccd']
      .map((name) => ({ operation: 'mach-lookup', name })),
    { operation: 'appleevent-send' }, { operation: 'lsopen' }, { operation: 'mach-register', name: 'planted' }, { operation: 'distributed-notification-post' }, { operation: 'user-preference-read' }, { operation: 'user-preference-write' },
  ],
  'the processes and settings of the machine': () => [
    { operation: 'signal', target: 'others' }, { operation: 'process-info-pidinfo', target: 'others' }, { operation: 'mach-priv-task-port', target: 'others' }, { operation: 'sysctl-write', name: 'kern.maxproc' },
    { operation: 'system-kext-load' }, { operation: 'system-reboot' }, { operation: 'file-mount', path: '/Volumes/planted' }, { operation: 'iokit-open', name: 'IOSurfaceRootUserClient' },
  ],
  'the terminals of the user': () => ['/dev/ttys000', '/dev/ptmx', '/dev/console'].flatMap((file) => each(['file-read-data', 'file-write-data', 'file-ioctl'], file)),
};

const ALLOWED: Readonly<Record<string, (places: Places) => readonly Attempt[]>> = {
  'writing its own folders, whatever the names of the files': ({ copy, temporary }) =>
    [`${copy}/file`, `${copy}/.git/hooks/pre-commit`, `${copy}/.gitmodules`, `${copy}/.vscode/settings.json`, `${temporary}/file`].flatMap((file) => [...each(WRITES, file), ...each(READS, file)]),
  'reading the system, toolchains and dependencies': ({ toolchain, dependencies }) => [
    '/usr/lib/dyld', '/usr/bin/env', '/bin/sh', '/System/Library/Frameworks/CoreFoundation.framework/CoreFoundation', '/System/Volumes/Preboot/Cryptexes/OS/System/Library/dyld/dyld_shared_cache_arm64e',
    '/Library/Developer/CommandLineTools/usr/bin/git', '/Applications/Xcode.app/Contents/Developer/usr/bin/make', '/opt/homebrew/bin/node', '/private/etc/hosts', '/private/var/select/sh', '/private/var/db/timezone/tz/zoneinfo/UTC',
    `${toolchain}/versions/v1/bin/node`, `${dependencies}/dep/index.js`,
  ].flatMap((file) => each(READS, file)),
  'finding the way to them': ({ home, copy }) => [
    ...[home, path.dirname(home), path.dirname(copy)].map((folder) => ({ operation: 'file-read-metadata', path: folder, type: 'DIRECTORY' as const })),
    { operation: 'file-read-data', path: '/', type: 'DIRECTORY' }, { operation: 'file-read-metadata', path: '/tmp', type: 'SYMLINK' },
  ],
  'devices without content': () => ['/dev/null', '/dev/zero', '/dev/urandom'].flatMap((file) => ['file-read-data', 'file-write-data', 'file-ioctl'].map((operation) => ({ operation, path: file, type: 'CHARACTER-DEVICE' as const }))),
  'processes of its own': () => [
    { operation: 'process-fork' }, { operation: 'process-exec', path: '/usr/bin/env' }, { operation: 'signal', target: 'same-sandbox' }, { operation: 'process-info-pidinfo', target: 'same-sandbox' },
    { operation: 'ipc-posix-sem' }, { operation: 'sysctl-read', name: 'hw.ncpu' },
  ],
};

describe.each<Reading>(['last', 'specific'])('the profile for macOS, where the %s of several rules holds', (reading) => {
  it.each(Object.entries(DENIED))('denies %s', async (_what, attempts) => {
    const places = await makePlaces();
    const profile = new Profile(macProfile(places.walls));
    expect(attempts(places).filter((attempt) => profile.allows(attempt, reading))).toEqual([]);
  });

  it.each(Object.entries(ALLOWED))('allows %s', async (_what, attempts) => {
    const places = await makePlaces();
    const profile = new Profile(macProfile(places.walls));
    expect(attempts(places).filter((attempt) => !profile.allows(attempt, reading))).toEqual([]);
  });
});

describe('the line for macOS', () => {
  it('gives the profile and the script of the environment to one program each', async () => {
    const { walls } = await makePlaces();
    const quoted = path.join(await temporaryFolder(), `it's "here"`);
    await mkdir(quoted);
    const { line } = macLine({ ...walls, writable: [quoted] });
    expect(line).toMatch(/^\/usr\/bin\/sandbox-exec -p '\(version 1\)[\s\S]*' \/bin\/sh -c 'eval "\$CONDUCTOR_SCRIPT"'$/);
    expect(new Profile(macProfile({ ...walls, writable: [quoted] })).allows({ operation: 'file-write-data', path: `${quoted}/file` }, 'last')).toBe(true);
  });
});

describe('the judge of profiles', () => {
  const allows = (text: string, attempt: Attempt, reading: Reading = 'last'): boolean => new Profile(`(version 1)\n(deny default)\n${text}`).allows(attempt, reading);

  it('lets the last rule hold, and rules for one operation over those for a group where that is asked', () => {
    const read = { operation: 'file-read-data', path: '/a/b' };
    expect(allows('', read)).toBe(false);
    expect(allows('(allow file-read* (subpath "/a"))', read)).toBe(true);
    expect(allows('(allow file-read* (subpath "/a")) (deny file-read* (literal "/a/b"))', read)).toBe(false);
    expect(allows('(deny file-read* (literal "/a/b")) (allow file-read* (subpath "/a"))', read)).toBe(true);
    const mixed = '(deny file-read-data (literal "/a/b")) (allow file-read* (subpath "/a"))';
    expect([allows(mixed, read), allows(mixed, read, 'specific')]).toEqual([true, false]);
    expect(allows('(allow file* (subpath "/ab"))', read)).toBe(false);
    expect(allows('(allow default)', { operation: 'anything' })).toBe(true);
  });

  it('knows filters, and says which it does not know', () => {
    const device: Attempt = { operation: 'file-ioctl', path: '/dev/null', type: 'CHARACTER-DEVICE' };
    const rule = '(allow file-ioctl (require-all (literal "/dev/null") (require-not (vnode-type REGULAR-FILE)))) ; (allow default)';
    expect([allows(rule, device), allows(rule, { ...device, type: 'REGULAR-FILE' })]).toEqual([true, false]);
    expect(() => allows('(allow file-read* (moon-phase full))', device)).toThrow('The filter moon-phase is not known.');
    expect(() => allows('(perhaps file-read*)', device)).toThrow('A rule allows or denies');
    expect(() => new Profile('(deny default)')).toThrow('(version 1)');
  });

  it('reads expressions, comments and quotes', () => {
    expect(parse('(a "b \\"c\\" ; d" (e)) ; f\n#"^/g"')).toEqual([['a', '"b "c" ; d', ['e']], '"^/g']);
    expect(() => parse('(a')).toThrow('not closed');
    expect(() => parse('a)')).toThrow('not opened');
  });
});
