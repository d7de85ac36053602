import { execFile } from 'node:child_process';
import { readdir, readFile, stat } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

/*
 * The GPU drivers on which WebGPU computes: Vulkan on Linux, Direct3D 12 on Windows, Metal on macOS. onnxruntime does not say which GPU it took,
 * so a trial belongs to all drivers of the machine together.
 */

export interface GpuDrivers {
  /** For people: the GPUs, or the driver where no GPU is known. */
  readonly name: string;
  /** One text for each driver, which changes with its version. */
  readonly versions: readonly string[];
}

export interface LinuxPlaces {
  readonly pci: string;
  readonly icdFolders: readonly string[];
  readonly libraryFolders: readonly string[];
  readonly pciNames: readonly string[];
}

/** Where the Vulkan loader looks for drivers (Khronos, "Vulkan Loader Driver Interface", driver discovery on Linux), and where libraries are. */
const linuxPlaces = (env: NodeJS.ProcessEnv): LinuxPlaces => ({
  pci: '/sys/bus/pci/devices',
  icdFolders: [
    env.XDG_CONFIG_HOME ?? path.join(os.homedir(), '.config'), '/etc/xdg', '/etc',
    env.XDG_DATA_HOME ?? path.join(os.homedir(), '.local/share'), ...(env.XDG_DATA_DIRS ?? '/usr/local/share:/usr/share').split(':'),
  ].map((folder) => path.join(folder, 'vulkan/icd.d')),
  libraryFolders: ['/usr/lib/x86_64-linux-gnu', '/usr/lib64', '/usr/lib', '/lib/x86_64-linux-gnu', '/usr/local/lib'],
  pciNames: ['/usr/share/misc/pci.ids', '/usr/share/hwdata/pci.ids'],
});

/** The drivers of this machine; undefined where there are none. */
export async function findGpuDrivers(env: NodeJS.ProcessEnv, platform: string = process.platform): Promise<GpuDrivers | undefined> {
  if (platform === 'linux') return linuxDrivers(env);
  if (platform === 'win32') return windowsDrivers(await registryOfDisplays());
  // Metal is a part of macOS, and the GPU one of the processor.
  const [cpu] = os.cpus();
  return { name: cpu?.model ?? 'Apple GPU', versions: [`${cpu?.model} Darwin ${os.release()}`] };
}

/** Whether the kernel lists a display controller. A machine without one has software drivers at most. */
export async function hasDisplayController(platform: string, pci = '/sys/bus/pci/devices'): Promise<boolean> {
  return platform !== 'linux' || (await displayControllers(pci)).length > 0;
}

export async function linuxDrivers(env: NodeJS.ProcessEnv, places: LinuxPlaces = linuxPlaces(env)): Promise<GpuDrivers | undefined> {
  const named = env.VK_DRIVER_FILES || env.VK_ICD_FILENAMES;
  const manifests = named ? named.split(':') : (await Promise.all(places.icdFolders.map(manifestsIn))).flat();
  const versions = (await Promise.all(manifests.map((file) => libraryOf(file, places.libraryFolders)))).filter((found) => found !== undefined);
  if (versions.length === 0) return undefined;
  const gpus = await displayControllers(places.pci);
  const names = await pciNames(gpus, places.pciNames);
  const name = names.join(', ') || path.basename(manifests[0] ?? '', '.json').replace(/_icd.*$/, '');
  return { name, versions: [...gpus.map(({ vendor, device }) => `${vendor}:${device}`), ...versions].sort() };
}

async function manifestsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((): string[] => []);
  return names.filter((name) => name.endsWith('.json')).sort().map((name) => path.join(folder, name));
}

/** The library of a Vulkan driver with its size and time, which an update changes; undefined if it is missing. */
async function libraryOf(manifest: string, libraryFolders: readonly string[]): Promise<string | undefined> {
  const text = await readFile(manifest, 'utf8').catch(() => '');
  const library = /"library_path"\s*:\s*"([^"]{1,1000})"/.exec(text)?.[1];
  if (library === undefined) return undefined;
  const places = library.includes('/') ? [path.resolve(path.dirname(manifest), library)] : libraryFolders.map((folder) => path.join(folder, library));
  for (const place of places) {
    const found = await stat(place).catch(() => undefined);
    if (found) return `${place} ${found.size} ${Math.floor(found.mtimeMs)}`;
  }
  return undefined;
}

interface PciDevice {
  /** Four hexadecimal digits each. */
  readonly vendor: string;
  readonly device: string;
}

/** PCI devices whose class begins with 03. */
async function displayControllers(pci: string): Promise<PciDevice[]> {
  const names = await readdir(pci).catch((): string[] => []);
  const read = async (name: string, fact: string): Promise<string> => (await readFile(path.join(pci, name, fact), 'utf8').catch(() => '')).trim().replace(/^0x/, '');
  const found = await Promise.all(names.sort().map(async (name) => ((await read(name, 'class')).startsWith('03')
    ? [{ vendor: await read(name, 'vendor'), device: await read(name, 'device') }] : [])));
  return found.flat();
}

/** Names from the list of PCI ids where the machine has it, in which a vendor begins a line and its devices follow after a tab. */
async function pciNames(gpus: readonly PciDevice[], files: readonly string[]): Promise<string[]> {
  for (const file of gpus.length > 0 ? files : []) {
    const list = await readFile(file, 'utf8').catch(() => undefined);
    if (list === undefined) continue;
    return gpus.map(({ vendor, device }) => {
      const ofVendor = new RegExp(`^${vendor}  (.*)\n((?:[\t#].*\n)*)`, 'm').exec(list);
      const ofDevice = new RegExp(`^\t${device}  (.*)$`, 'm').exec(ofVendor?.[2] ?? '')?.[1];
      return ofDevice ?? `${ofVendor?.[1] ?? vendor} ${device}`;
    });
  }
  return gpus.map(({ vendor, device }) => `GPU ${vendor}:${device}`);
}

/** Windows' class of display adapters. Source: Microsoft, "System-Defined Device Setup Classes Available to Vendors". */
const DISPLAY_CLASS = String.raw`HKLM\SYSTEM\CurrentControlSet\Control\Class\{4d36e968-e325-11ce-bfc1-08002be10318}`;

async function registryOfDisplays(): Promise<string> {
  const options = { timeout: 15_000, windowsHide: true, maxBuffer: 4_194_304, encoding: 'utf8' } as const;
  return promisify(execFile)('reg', ['query', DISPLAY_CLASS, '/s'], options).then(({ stdout }) => stdout, () => '');
}

/** Parses the output of `reg query`: lines of name, type and value, in groups that begin with a key. */
export function windowsDrivers(registry: string): GpuDrivers | undefined {
  const value = (key: string, name: string): string | undefined => new RegExp(String.raw`^\s+${name}\s+REG_SZ\s+(.+?)\s*$`, 'm').exec(key)?.[1];
  const found = registry.split(/^(?=HKEY_)/m).flatMap((key) => {
    const [name, version] = [value(key, 'DriverDesc'), value(key, 'DriverVersion')];
    return name !== undefined && version !== undefined ? [{ name, version }] : [];
  });
  if (found.length === 0) return undefined;
  return { name: [...new Set(found.map(({ name }) => name))].join(', '), versions: found.map(({ name, version }) => `${name} ${version}`).sort() };
}
