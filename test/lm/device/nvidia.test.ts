import { execFileSync } from 'node:child_process';
import { chmod, copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { DeviceError } from '../../../backend/lm/device/device-error.ts';
import { findDriver, hasNvidiaCard, listGpus, parseGpus } from '../../../backend/lm/device/nvidia.ts';
import { temporaryFolder } from '../download/temporary-folder.ts';

const UUIDS = [
  'GPU-aaaaaaaa-1111-2222-3333-444444444444', 'GPU-bbbbbbbb-1111-2222-3333-444444444444', 'GPU-cccccccc-1111-2222-3333-444444444444',
] as const;
const line = (name: string, uuid: string): string => `${name}, 8.9, 580.65.06, 24564, 23000, ${uuid}`;
const THREE = UUIDS.map((uuid, index) => line(`RTX ${index}`, uuid)).join('\n');

/** A machine whose nvidia-smi is this shell script. */
async function machine(script: string): Promise<{ env: NodeJS.ProcessEnv; folder: string }> {
  const folder = await temporaryFolder();
  const file = path.join(folder, 'nvidia-smi');
  await writeFile(file, `#!/bin/sh\n${script}\n`);
  await chmod(file, 0o755);
  return { folder, env: { PATH: `${folder}:/usr/bin:/bin` } };
}

async function failure(work: Promise<unknown>): Promise<DeviceError> {
  const error: unknown = await work.then(() => undefined, (reason: unknown) => reason);
  if (error instanceof DeviceError) return error;
  throw error ?? new Error('It worked.');
}

describe('nvidia-smi', () => {
  it('is asked for what the checks need, and its answer is read', async () => {
    const { env, folder } = await machine(`echo "$@" > "$(dirname "$0")/asked"; echo '${line('NVIDIA GeForce RTX 4090', UUIDS[0])}'`);
    expect(await listGpus({ env })).toEqual([{
      name: 'NVIDIA GeForce RTX 4090', uuid: UUIDS[0], capability: { major: 8, minor: 9 }, driver: '580.65.06',
      memoryBytes: 24_564 * 2 ** 20, freeBytes: 23_000 * 2 ** 20,
    }]);
    expect(await readFile(path.join(folder, 'asked'), 'utf8')).toBe(
      '--query-gpu=name,compute_cap,driver_version,memory.total,memory.free,uuid --format=csv,noheader,nounits\n');
  });

  it.each([
    ['is not there', undefined, 20_000, 'was not found'],
    ['fails', 'echo "Failed to initialize NVML: Driver/library version mismatch"; exit 18', 20_000, 'failed'],
    ['writes without an end', 'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done', 20_000, 'failed'],
    ['hangs', 'exec sleep 600', 200, 'did not answer'],
  ])('that %s is said so', async (_name, script, timeoutMs, words) => {
    const env = script === undefined ? { PATH: await temporaryFolder() } : (await machine(script)).env;
    const message = `nvidia-smi ${words}, so nothing is known of the GPU: repair the NVIDIA driver, or stay on the CPU.`;
    expect(await failure(listGpus({ env, timeoutMs }))).toMatchObject({ kind: 'unknown-gpu', message });
  });

  it.each<[string | undefined, readonly number[]]>([
    [undefined, [0, 1, 2]], ['1', [1]], ['2,0', [2, 0]], ['', []], ['-1', []], ['NoDevFiles', []], ['0,-1,1', [0]], ['9', []],
    [UUIDS[2], [2]], ['GPU-bbbb', [1]],
  ])('with CUDA_VISIBLE_DEVICES=%j shows what CUDA would', async (variable, expected) => {
    const { env } = await machine(`cat <<'END'\n${THREE}\nEND`);
    const gpus = await listGpus({ env: { ...env, ...(variable === undefined ? {} : { CUDA_VISIBLE_DEVICES: variable }) } });
    expect(gpus.map(({ uuid }) => uuid)).toEqual(expected.map((index) => UUIDS[index]));
  });
});

describe('a line of nvidia-smi', () => {
  it('may have a comma in the name', () => {
    expect(parseGpus(line('Quadro RTX 8000, Max-Q', UUIDS[0]))[0]?.name).toBe('Quadro RTX 8000, Max-Q');
  });

  it.each([
    '', 'No devices were found', 'NVIDIA-SMI has failed because it couldn\'t communicate with the NVIDIA driver.',
    `T4, 7.5, 580.1, [N/A], [N/A], ${UUIDS[0]}`, `T4, [N/A], 580.1, 1, 1, ${UUIDS[0]}`, `T4, 7.5, , 1, 1, ${UUIDS[0]}`,
    `T4, 7.5, 580.1, 1, -1, ${UUIDS[0]}`, `T4, 7.5, 580.1, 1, 1e9, ${UUIDS[0]}`, 'T4, 7.5, 580.1, 1, 1, $(rm -rf)', `, 7.5, 580.1, 1, 1, ${UUIDS[0]}`,
    `T4, 7.5, 580.1, 1, ${UUIDS[0]}`,
  ])('that is no GPU is left out: %j', (broken) => {
    expect(parseGpus(`${broken}\n${line('Sound', UUIDS[1])}\n`).map(({ name }) => name)).toEqual(['Sound']);
  });

  it('is shown without what a terminal would obey', () => {
    expect(parseGpus(line('RTX \u001b[2J', UUIDS[0]))[0]?.name).toBe('RTX  [2J');
  });
});

/** As the loader's own list says, without opening anything. */
const hasDriver = process.platform === 'linux' && execFileSync('/sbin/ldconfig', ['-p'], { encoding: 'utf8' }).includes('libcuda.so.1');

describe.runIf(process.platform === 'linux')('the driver', () => {
  it('is found where its library can be opened', async () => {
    const folder = await temporaryFolder();
    // Any library that is no add-on stands for the driver's: only opening it is asked for.
    const libraries = process.report.getReport() as { sharedObjects: string[] };
    const some = libraries.sharedObjects.find((file) => /\/libm[.-]/.test(file));
    if (!some) throw new Error('There is no libm to copy.');
    await copyFile(some, path.join(folder, 'libcuda.so.1'));
    expect(await findDriver({ env: { ...process.env, LD_LIBRARY_PATH: folder } })).toBe(true);
  });

  it('is not found where its library is damaged', async () => {
    const folder = await temporaryFolder();
    await writeFile(path.join(folder, 'libcuda.so.1'), 'not a library');
    expect(await findDriver({ env: { ...process.env, LD_LIBRARY_PATH: folder } })).toBe(false);
  });

  it.skipIf(hasDriver)('is not found where there is none', async () => {
    expect(await findDriver({ env: process.env })).toBe(false);
  });
});

describe('a card', () => {
  const bus = async (...devices: readonly (readonly [vendor: string, kind: string])[]): Promise<string> => {
    const folder = await temporaryFolder();
    for (const [index, [vendor, kind]] of devices.entries()) {
      const device = path.join(folder, `0000:0${index}:00.0`);
      await mkdir(device);
      await writeFile(path.join(device, 'vendor'), `${vendor}\n`);
      await writeFile(path.join(device, 'class'), `${kind}\n`);
    }
    return folder;
  };

  it.each([
    ['a display controller of NVIDIA\'s', [['0x8086', '0x060000'], ['0x10de', '0x030200']], true],
    ['another maker\'s', [['0x1002', '0x030000']], false],
    ['the sound that a card has beside it', [['0x10de', '0x040300']], false],
    ['nothing', [], false],
  ] as const)('is known by the bus: %s', async (_, devices, expected) => {
    expect(await hasNvidiaCard({ pci: await bus(...devices), windowsGpu: '/nowhere' })).toBe(expected);
  });

  it('may be there where Windows hands its GPU over, and is not where there is no bus', async () => {
    expect(await hasNvidiaCard({ pci: '/nowhere', windowsGpu: await temporaryFolder() })).toBe(true);
    expect(await hasNvidiaCard({ pci: '/nowhere', windowsGpu: '/nowhere' })).toBe(false);
  });
});
