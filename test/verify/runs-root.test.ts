import path from 'node:path';
import { expect, it } from 'vitest';
import { runsRoot } from '../../backend/verify/files/runs-root.ts';

it('is in the home folder of Conductor if no part of its path begins with a dot', async () => {
  expect(await runsRoot('/srv/conductor-home')).toBe('/srv/conductor-home/verify');
});

it.skipIf(process.getuid === undefined)('is elsewhere otherwise, another one for each home', async () => {
  const [one, other] = [await runsRoot('/home/one/.conductor'), await runsRoot('/home/other/.conductor')];
  expect(one.split(path.sep).filter((name) => name.startsWith('.'))).toEqual([]);
  expect(one).not.toBe(other);
  expect(await runsRoot('/home/one/.conductor')).toBe(one);
});
