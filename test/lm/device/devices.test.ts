import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it } from 'vitest';
import { WANTED_DEVICES } from '../../../backend/lm/device/accelerators.ts';
import { DEVICE_NAMES } from '../../../backend/lm/device/devices.ts';
import { DEVICES } from '../../../backend/protocol/devices.ts';

interface Manifest {
  readonly contributes: { readonly configuration: readonly { readonly properties: Record<string, { readonly enum?: readonly string[] }> }[] };
}

it('every device can be chosen in the settings, and nothing else', async () => {
  const manifest = JSON.parse(await readFile(path.join(import.meta.dirname, '../../../package.json'), 'utf8')) as Manifest;
  const { enum: offered } = Object.assign({}, ...[manifest.contributes.configuration].flat().map(({ properties }) => properties))['conductor.localModel.device'];
  expect(offered).toEqual(WANTED_DEVICES);
  expect([...DEVICES].sort()).toEqual([...DEVICE_NAMES].sort());
});
