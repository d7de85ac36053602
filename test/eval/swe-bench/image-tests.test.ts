import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { testsOfImage } from '../../../backend/eval/swe-bench/image-tests.ts';
import { Containers } from '../../../backend/verify/sandbox/container/containers.ts';
import { makeScratch } from '../../verify/setup.ts';

it.each([['log', 'output'], ['code', 'output'], ['nothing', undefined]])('reads no log of any size: a large %s', async (large, exceeded) => {
  await using scratch = await makeScratch();
  // An engine whose containers leave what they like.
  await writeFile(path.join(scratch.folder, 'docker'), [
    '#!/bin/sh', `case "$1" in --version) echo Docker;; version) echo 1;; inspect) echo exited 0 false;; cp) case "$2" in *:*/${large}) exec truncate --size 65M "$3";; *:*) exec touch "$3";; esac;; esac`, '',
  ].join('\n'), { mode: 0o755 });
  const containers = new Containers({ searchPath: `${scratch.folder}${path.delimiter}${process.env['PATH'] ?? ''}`, environment: {}, isProcessAlive: () => true });
  const found = await testsOfImage({ image: 'any', evalScript: 'true' }, { change: '', containers, signal: new AbortController().signal });
  expect(found).toEqual({ log: '', exitCode: undefined, exceeded });
});

it.each([['a link', 'ln -s /etc/hostname "$3"'], ['a folder', 'mkdir "$3"'], ['nothing', 'echo "no such file" >&2; exit 1']])('takes tests that leave %s as their log for tests that said nothing', async (_, leaves) => {
  await using scratch = await makeScratch();
  await writeFile(path.join(scratch.folder, 'docker'), [
    '#!/bin/sh', `case "$1" in --version) echo Docker;; version) echo 1;; inspect) echo exited 0 false;; cp) case "$2" in *:*/log) ${leaves};; *:*) exec touch "$3";; esac;; esac`, '',
  ].join('\n'), { mode: 0o755 });
  const containers = new Containers({ searchPath: `${scratch.folder}${path.delimiter}${process.env['PATH'] ?? ''}`, environment: {}, isProcessAlive: () => true });
  const found = await testsOfImage({ image: 'any', evalScript: 'true' }, { change: '', containers, signal: new AbortController().signal });
  expect(found).toEqual({ log: '', exitCode: undefined, exceeded: undefined });
});
