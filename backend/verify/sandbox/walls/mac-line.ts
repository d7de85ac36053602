import { realpathSync } from 'node:fs';
import { wrapCommandWithSandboxMacOS } from '@anthropic-ai/sandbox-runtime/dist/sandbox/macos-sandbox-utils.js';
import { shellQuote } from '../shell-quote.ts';
import { RUN_SCRIPT } from './script.ts';
import { SandboxLineError, type WalledLine, type WallsAround } from './walled-line.ts';

/** The command line for macOS. Not run on a Mac yet; `test/verify/walls/mac-profile.test.ts` judges its profile. */
export function macLine(walls: WallsAround): WalledLine {
  return { line: `/usr/bin/sandbox-exec -p ${shellQuote(macProfile(walls))} /bin/sh -c ${shellQuote(RUN_SCRIPT)}`, release: () => undefined };
}

/** What the library's profile says of files begins here, and is the last of it. */
const FILES = '\n; File read\n';

/**
 * A profile in Apple's language: the library's for processes, services of the system and the network, which is off, and our own for files.
 * The library's lets everything be read that is not hidden, and keeps some files from being written in every copy. @throws SandboxLineError
 */
export function macProfile(walls: WallsAround): string {
  const line = wrapCommandWithSandboxMacOS({
    command: RUN_SCRIPT, binShell: 'sh', needsNetworkRestriction: true, readConfig: undefined, writeConfig: { allowOnly: [], denyWithinAllow: [] },
  });
  // The library quotes like a shell: a quote inside is closed, quoted and opened again.
  const [, quoted] = /sandbox-exec -p '((?:[^']|'"'"')*)' /.exec(line) ?? [];
  const profile = quoted?.replaceAll(`'"'"'`, "'");
  const end = profile?.indexOf(FILES) ?? -1;
  if (profile === undefined || end < 0) throw new SandboxLineError('The sandbox library has changed: its profile for macOS has another form.');
  return [profile.slice(0, end), ...fileRules(walls), ...STRICTER].join('\n');
}

/** Readable by all users, like `foldersBeyondSystem` on Linux leaves it. /private has the system's settings, and what it keeps of users. */
const SYSTEM = [
  ...['/System', '/Library', '/usr', '/bin', '/sbin', '/opt', '/Applications', '/nix', '/private/etc', '/private/var/select'],
  ...['/private/var/db/dyld', '/private/var/db/timezone', '/private/var/db/xcode_select_link'],
];

/** In /Library, what programs keep for all users, and the system's keychain. */
const HIDDEN_IN_SYSTEM = ['/Library/Keychains', '/Library/Application Support', '/Library/Logs', '/Library/Caches', '/Library/Preferences'];

const DEVICES = ['/dev/null', '/dev/zero', '/dev/random', '/dev/urandom', '/dev/tty', '/dev/dtracehelper'];

/** Of several rules that match, the last one holds. So rules about outer places come first. */
function fileRules({ hidden, readable, writable }: WallsAround): string[] {
  const places = [
    ...SYSTEM.map((place) => ({ place, rule: 'allow file-read*' })),
    ...HIDDEN_IN_SYSTEM.map((place) => ({ place, rule: 'deny file-read* file-write*' })),
    ...hidden.map((entry) => ({ place: realpathSync(entry), rule: 'deny file-read* file-write*' })),
    ...readable.map((entry) => ({ place: realpathSync(entry), rule: 'allow file-read*' })),
    ...writable.map((entry) => ({ place: realpathSync(entry), rule: 'allow file-read* file-write*' })),
  ].sort((one, other) => one.place.length - other.place.length);
  return [
    '',
    '; Files',
    ...places.map(({ place, rule }) => `(${rule} (subpath ${JSON.stringify(place)}))`),
    `(allow file-read* file-write-data file-ioctl ${DEVICES.map((device) => `(literal ${JSON.stringify(device)})`).join(' ')})`,
    '(allow file-read* file-write-data (subpath "/dev/fd"))',
    // The shell and dyld look at the root, and realpath(3) at every folder on its way.
    '(allow file-read* (literal "/"))',
    '(allow file-read-metadata (vnode-type DIRECTORY) (vnode-type SYMLINK))',
    // Copies are used again: an attribute would tell the next run of this one.
    '(deny file-write-xattr file-write-setugid)',
  ];
}

/** What the library allows, and tests do without: keychains, other programs, and what leads to them. */
const STRICTER = [
  '',
  '; Stricter',
  '(deny network*)',
  '(deny user-preference-read)',
  '(deny distributed-notification-post)',
  '(deny iokit-open)',
  '(deny mach-lookup',
  ...['SecurityServer', 'securityd.xpc', 'coreservices.launchservicesd', 'distributed_notifications@Uv3', 'audio.systemsoundserver', 'PowerManagement.control']
    .map((name) => `  (global-name "com.apple.${name}")`),
  ')',
  '',
];
