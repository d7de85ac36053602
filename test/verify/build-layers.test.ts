import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { unlessAborted } from '../../backend/common/unless-aborted.ts';
import { BuildLayers, type MakeLayer } from '../../backend/verify/copies/build-layers.ts';
import { makeScratch } from './setup.ts';

const { signal } = new AbortController();
const source = (state: string): { family: string; state: string } => ({ family: 'go test', state });
const making = (text: string): MakeLayer => async (folder) => {
  await writeFile(path.join(folder, 'built'), text);
  return true;
};
const refuses: MakeLayer = () => Promise.reject(new Error('made twice'));

describe('layers of builds', () => {
  it('are made once, for all who ask at the same time and later', async () => {
    await using scratch = await makeScratch();
    const layers = new BuildLayers(scratch.folders);
    const [one, other] = await Promise.all([layers.lease(source('a'), signal, making('first')), layers.lease(source('a'), signal, refuses)]);
    const third = await layers.lease(source('a'), signal, refuses);
    expect(new Set([one?.folder, other?.folder, third?.folder]).size).toBe(1);
    expect(await readFile(path.join(one?.folder ?? '', 'built'), 'utf8')).toBe('first');
  });

  it('begin with what another state of the same workspace has built, and with nothing of another workspace', async () => {
    await using scratch = await makeScratch();
    const layers = new BuildLayers(scratch.folders);
    const first = await layers.lease(source('a'), signal, making('first'));
    const seen: (string | undefined)[] = [];
    const see: MakeLayer = (_, earlier) => Promise.resolve(seen.push(earlier) > 0);
    await layers.lease(source('b'), signal, see);
    await layers.lease({ family: 'cargo test', state: 'b' }, signal, see);
    expect(seen).toEqual([first?.folder, undefined]);
  });

  it('that hold nothing are not made again', async () => {
    await using scratch = await makeScratch();
    const layers = new BuildLayers(scratch.folders);
    expect(await layers.lease(source('a'), signal, () => Promise.resolve(false))).toBeUndefined();
    expect(await layers.lease(source('a'), signal, refuses)).toBeUndefined();
  });

  it('are made by one who waits if who began them gives up', async () => {
    await using scratch = await makeScratch();
    const layers = new BuildLayers(scratch.folders);
    const gone = new AbortController();
    const began = layers.lease(source('a'), gone.signal, () => unlessAborted(new Promise<boolean>(() => undefined), gone.signal));
    const waiting = layers.lease(source('a'), signal, making('second'));
    gone.abort(new Error('stopped'));
    await expect(began).rejects.toThrow('stopped');
    expect(await readFile(path.join((await waiting)?.folder ?? '', 'built'), 'utf8')).toBe('second');
  });

  it('are removed when they are no longer in use', async () => {
    await using scratch = await makeScratch();
    const layers = new BuildLayers(scratch.folders);
    const [used, unused] = [await layers.lease(source('a'), signal, making('a')), await layers.lease(source('b'), signal, making('b'))];
    unused?.release();
    await layers.clear();
    expect([used, unused].map((layer) => existsSync(layer?.folder ?? ''))).toEqual([true, false]);
    used?.release();
    await layers.clear();
    expect(existsSync(used?.folder ?? '')).toBe(false);
  });
});
