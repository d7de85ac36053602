import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type LinuxPlaces, linuxDrivers, windowsDrivers } from '../../../backend/lm/device/webgpu-drivers.ts';

let folder: string;
let places: LinuxPlaces;
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'webgpu-drivers-'));
  const at = (name: string): string => path.join(folder, name);
  places = { pci: at('pci'), icdFolders: [at('none'), at('icd')], libraryFolders: [at('lib')], pciNames: [at('pci.ids')] };
  for (const name of ['pci', 'icd', 'lib']) await mkdir(at(name));
});
afterEach(() => rm(folder, { recursive: true }));

async function put(name: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
  await writeFile(path.join(folder, name), text);
}

async function card(slot: string, facts: Readonly<Record<'class' | 'vendor' | 'device', string>>): Promise<void> {
  for (const [name, value] of Object.entries(facts)) await put(`pci/${slot}/${name}`, `${value}\n`);
}

describe('the Vulkan drivers of Linux', () => {
  it('are none without a manifest whose library is here', async () => {
    expect(await linuxDrivers({}, places)).toBeUndefined();
    await put('icd/broken.json', '{"ICD": {');
    await put('icd/gone.json', '{"ICD": {"library_path": "libvulkan_gone.so"}}');
    expect(await linuxDrivers({}, places)).toBeUndefined();
  });

  it('are named by the GPUs of the machine, and known by their libraries', async () => {
    await put('lib/libvulkan_radeon.so', 'driver');
    await put('icd/radeon_icd.x86_64.json', '{"file_format_version": "1.0.0", "ICD": {"library_path": "libvulkan_radeon.so", "api_version": "1.3"}}');
    await card('0000:00:1f.0', { class: '0x060100', vendor: '0x8086', device: '0x1234' });
    await card('0000:03:00.0', { class: '0x030000', vendor: '0x1002', device: '0x73bf' });
    const bare = await linuxDrivers({}, places);
    expect(bare?.name).toBe('GPU 1002:73bf');
    expect(bare?.versions).toEqual([expect.stringMatching(/libvulkan_radeon\.so 6 \d+$/), '1002:73bf']);
    await put('pci.ids', '8086  Intel\n\t73bf  Wrong one\n1002  AMD\n\t1111  Other\n\t73bf  Navi 21\n\t\t1002 0e3a  Board\n');
    expect((await linuxDrivers({}, places))?.name).toBe('Navi 21');
  });

  it('are others after an update of a library', async () => {
    await put('icd/one.json', '{"ICD": {"library_path": "./one.so"}}');
    await put('icd/one.so', 'old');
    const before = await linuxDrivers({}, places);
    expect(await linuxDrivers({}, places)).toEqual(before);
    await utimes(path.join(folder, 'icd/one.so'), 1, 1);
    expect(await linuxDrivers({}, places)).not.toEqual(before);
    expect(before?.name).toBe('one');
  });

  it('are those that the variables of the loader name', async () => {
    await put('icd/one.json', '{"ICD": {"library_path": "./one.so"}}');
    await put('icd/one.so', '');
    await put('elsewhere/software_icd.json', '{"ICD": {"library_path": "./software.so"}}');
    await put('elsewhere/software.so', '');
    const file = path.join(folder, 'elsewhere/software_icd.json');
    for (const variable of ['VK_ICD_FILENAMES', 'VK_DRIVER_FILES']) {
      const found = await linuxDrivers({ [variable]: file }, places);
      expect(found?.name).toBe('software');
      expect(found?.versions).toEqual([expect.stringContaining('software.so')]);
    }
  });
});

describe('the display drivers of Windows', () => {
  // As `reg query … /s` prints them.
  const key = String.raw`HKEY_LOCAL_MACHINE\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}`;
  const registry = [
    '', key, '    Class    REG_SZ    Display', '', `${key}\\0000`, '    DriverDesc    REG_SZ    Intel(R) Iris(R) Xe Graphics', '    DriverVersion    REG_SZ    31.0.101.5186', '',
    `${key}\\0001`, '    DriverVersion    REG_SZ    32.0.15.6094', '    DriverDesc    REG_SZ    NVIDIA GeForce RTX 4060', '', `${key}\\Properties`, '',
  ].join('\r\n');

  it('are read from the registry', () => {
    expect(windowsDrivers(registry)).toEqual({
      name: 'Intel(R) Iris(R) Xe Graphics, NVIDIA GeForce RTX 4060',
      versions: ['Intel(R) Iris(R) Xe Graphics 31.0.101.5186', 'NVIDIA GeForce RTX 4060 32.0.15.6094'],
    });
  });

  it('are none where there are none', () => {
    expect(windowsDrivers('')).toBeUndefined();
    expect(windowsDrivers(`${key}\r\n    Class    REG_SZ    Display\r\n`)).toBeUndefined();
  });
});
