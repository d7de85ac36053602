import { describe, expect, test } from 'vitest';
import { holderName } from '../../backend/journal/leases.ts';
import { openJournal, temporaryFile } from './temporary.ts';

function setUp() {
  const world = { now: 0, dead: new Set<number>() };
  const file = temporaryFile();
  const options = { now: () => world.now, isAlive: (pid: number) => !world.dead.has(pid) };
  return { world, ours: openJournal(file, options).leases, theirs: openJournal(file, options).leases };
}

describe('a lease', () => {
  test('is held by one at a time, and its holder may ask again', () => {
    const { ours, theirs } = setUp();
    expect(ours.acquire('r', '1:a', 100)).toBe(true);
    expect(theirs.acquire('r', '2:b', 100)).toBe(false);
    expect(ours.acquire('r', '1:a', 100)).toBe(true);
    expect(theirs.acquire('other', '2:b', 100)).toBe(true);
    expect(theirs.isHeldByAnother('r', '2:b')).toBe(true);
    expect(ours.isHeldByAnother('r', '1:a')).toBe(false);
  });

  test('can be taken once it is released, but not released by others', () => {
    const { ours, theirs } = setUp();
    ours.acquire('r', '1:a', 100);
    theirs.release('r', '2:b');
    expect(theirs.acquire('r', '2:b', 100)).toBe(false);
    ours.release('r', '1:a');
    expect(theirs.acquire('r', '2:b', 100)).toBe(true);
  });

  test('can be taken from the moment it expires; who lost it learns so when renewing', () => {
    const { world, ours, theirs } = setUp();
    ours.acquire('r', '1:a', 100);
    world.now = 99;
    expect(theirs.acquire('r', '2:b', 100)).toBe(false);
    world.now = 100;
    expect(theirs.acquire('r', '2:b', 100)).toBe(true);
    expect(ours.renew('r', '1:a', 100)).toBe(false);
    expect(theirs.renew('r', '2:b', 100)).toBe(true);
  });

  test('lasts on from the moment it is renewed, even when it had expired and nobody wanted it', () => {
    const { world, ours, theirs } = setUp();
    ours.acquire('r', '1:a', 100);
    world.now = 150;
    expect(ours.renew('r', '1:a', 100)).toBe(true);
    world.now = 249;
    expect(theirs.acquire('r', '2:b', 100)).toBe(false);
  });

  test('of a process that died can be taken at once', () => {
    const { world, ours, theirs } = setUp();
    ours.acquire('r', '1:a', 1_000_000);
    world.dead.add(1);
    expect(theirs.isHeldByAnother('r')).toBe(false);
    expect(theirs.acquire('r', '2:b', 100)).toBe(true);
  });
});

test('a holder is named by its process, and no two are named alike', () => {
  expect(Number.parseInt(holderName(), 10)).toBe(process.pid);
  expect(holderName()).not.toBe(holderName());
});
