import type { Limits } from '../../../backend/verify/sandbox/limits/limits.ts';
import type { ExceededLimit } from '../../../backend/verify/sandbox/process-group.ts';
import { python } from './setup.ts';

const MIB = 1024 ** 2;

/** What takes too much of something, bounded by itself so that a limit that does not hold harms nobody. */
export interface Hog {
  readonly does: string;
  readonly command: string;
  readonly limits: Partial<Limits>;
  readonly exceeds: ExceededLimit;
}

/** A shell that doubles: twice 2 to the power of `depth` at most, for half a minute at most. */
const bomb = (depth: number): string => `bomb() { if [ $1 -gt 0 ]; then bomb $(($1 - 1)) & bomb $(($1 - 1)) & wait; else exec sleep 30; fi; }; bomb ${depth}`;

export const HOGS: readonly Hog[] = [
  // Fewer than the 600 that the kernel refuses a user: shells that may not fork end, and could all have before anybody looks.
  { does: 'forks without end', command: bomb(8), limits: { processes: 300 }, exceeds: 'processes' },
  {
    does: 'starts threads without end',
    command: python(
      'import threading, time',
      'threading.stack_size(64 * 1024)',
      'for _ in range(1000):',
      '    threading.Thread(target=time.sleep, args=(30,), daemon=True).start()',
      'time.sleep(30)',
    ),
    limits: { processes: 300 },
    exceeds: 'processes',
  },
  {
    does: 'takes memory in many processes, each of which may',
    command: python(
      'import os, time',
      'for _ in range(7):',
      '    if os.fork() == 0: break',
      'kept = b"x" * (60 * 2 ** 20)',
      'time.sleep(30)',
    ),
    limits: { memoryBytes: 200 * MIB },
    exceeds: 'memory',
  },
  {
    does: 'takes memory in shared mappings',
    command: python(
      'import mmap, time',
      'kept = [mmap.mmap(-1, 60 * 2 ** 20) for _ in range(7)]',
      'for area in kept: area.write(b"x" * len(area))',
      'time.sleep(30)',
    ),
    limits: { memoryBytes: 200 * MIB },
    exceeds: 'memory',
  },
  ...['/dev/shm', '/tmp', '/var/tmp', '/run', '/home'].map((folder): Hog => ({
    does: `takes memory by files in ${folder.replaceAll('"', '')}`,
    command: `for i in 1 2 3 4 5 6 7; do head -c 60M /dev/zero > ${folder}/$i; done; sleep 30`,
    limits: { memoryBytes: 200 * MIB },
    exceeds: 'memory',
  })),
  {
    does: 'fills the disk with files',
    command: 'for i in 1 2 3 4 5 6 7; do head -c 60M /dev/urandom > $i; done; sleep 30',
    limits: { diskBytes: 200 * MIB },
    exceeds: 'disk',
  },
  {
    does: 'fills the disk with files in the temporary folder',
    command: 'for i in 1 2 3 4 5 6 7; do head -c 60M /dev/urandom > "$TMPDIR/$i"; done; sleep 30',
    limits: { diskBytes: 200 * MIB },
    exceeds: 'disk',
  },
  {
    does: 'fills the disk with space that it sets aside',
    command: 'for i in 1 2 3 4 5 6 7; do fallocate -l 60M $i; done; sleep 30',
    limits: { diskBytes: 200 * MIB },
    exceeds: 'disk',
  },
  {
    does: 'fills the disk with files that have no name any more',
    command: python(
      'import os, time',
      'kept = [open("file%d" % i, "wb") for i in range(7)]',
      'for file in kept:',
      '    os.unlink(file.name)',
      '    file.write(b"x" * (60 * 2 ** 20))',
      '    file.flush()',
      'time.sleep(30)',
    ),
    limits: { diskBytes: 200 * MIB },
    exceeds: 'disk',
  },
  {
    does: 'fills the disk in a folder that nobody may look into',
    command: python(
      'import os, time',
      'os.mkdir("closed")',
      'kept = [open("closed/file%d" % i, "wb") for i in range(7)]',
      'os.chmod("closed", 0)',
      'for file in kept:',
      '    file.write(b"x" * (60 * 2 ** 20))',
      '    file.flush()',
      'time.sleep(30)',
    ),
    limits: { diskBytes: 200 * MIB },
    exceeds: 'disk',
  },
  {
    does: 'makes files without end',
    command: python('import os', 'for i in range(400_000): os.close(os.open("file%d" % i, os.O_CREAT | os.O_WRONLY))'),
    limits: { diskBytes: 5 * MIB },
    exceeds: 'disk',
  },
  { does: 'floods its output', command: 'timeout 30 yes', limits: { outputBytes: 20 * MIB }, exceeds: 'output' },
  { does: 'floods its errors', command: 'timeout 30 yes >&2', limits: { outputBytes: 20 * MIB }, exceeds: 'output' },
  {
    does: 'computes without end, in several processes',
    command: 'for i in 1 2 3 4; do timeout 30 sh -c "while :; do :; done" & done; wait',
    limits: { cpuTimeMs: 1_000 },
    exceeds: 'time',
  },
];
