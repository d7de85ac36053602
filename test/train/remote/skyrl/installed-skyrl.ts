import { execFile } from 'node:child_process';
import { existsSync, globSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** SkyRL in a virtual environment of its own. */
export interface InstalledSkyRl {
  readonly version: string;
  /** Absolute. */
  readonly folder: string;
  readonly python: string;
  /** The folder of the stubs that stand for torch and peft. */
  readonly stubs: string;
}

interface Release {
  readonly version: string;
  /** As pip takes them. */
  readonly packages: readonly string[];
}

/** The oldest Python that both run on, 3.N: 0.3.0 installs with 3.11, and then pydantic refuses its types. */
const LEAST_PYTHON = 12;

/** The newest first. 0.4.0 imports ray and aiohttp, whoever uses them. */
const RELEASES: readonly Release[] = [
  { version: '0.4.0', packages: ['skyrl[tinker,jax,ray]==0.4.0', 'aiohttp'] },
  { version: '0.3.0', packages: ['skyrl[tinker,jax]==0.3.0'] },
];

/** Outside the checkout, so that a fresh one finds it. */
const CACHE = path.join(process.env['XDG_CACHE_HOME'] || path.join(homedir(), '.cache'), 'conductor-tests');

/** Packages that are left out: gigabytes of CUDA. */
const LEFT_OUT = ['torch', 'triton', 'peft'];
/** The JAX back end has torch in types alone, and has peft write adapter_config.json alone. */
const STUBS: Readonly<Record<string, string>> = {
  'torch/__init__.py': 'class Tensor: ...\nclass dtype: ...\n',
  'peft/__init__.py': [
    'import json, os',
    'class LoraConfig:',
    '    def __init__(self, **fields): self.fields = fields',
    '    def save_pretrained(self, folder):',
    '        fields = {"peft_type": "LORA", **{name: sorted(value) if isinstance(value, set) else value for name, value in self.fields.items()}}',
    '        with open(os.path.join(folder, "adapter_config.json"), "w") as file: json.dump(fields, file)',
    '',
  ].join('\n'),
};

/** Written last. */
const DONE = 'installed';
/** All of it is a gigabyte. */
const LIMIT_MS = 5 * 60_000;

/** The release that CONDUCTOR_TEST_SKYRL names, or all. */
const wanted = (): readonly Release[] => RELEASES.filter(({ version }) => version === (process.env['CONDUCTOR_TEST_SKYRL'] ?? version));

/** What `installSkyRl` installed earlier. */
export function installedSkyRl(): InstalledSkyRl | undefined {
  return wanted().map(placeOf).find(({ folder }) => existsSync(path.join(folder, DONE)));
}

/**
 * Installs SkyRL, or takes what is there.
 * @throws Error where there is no Python, or its packages cannot be had within five minutes
 */
export async function installSkyRl(): Promise<InstalledSkyRl> {
  const [release] = wanted();
  if (!release) throw new Error(`CONDUCTOR_TEST_SKYRL names none of ${RELEASES.map(({ version }) => version).join(' and ')}.`);
  const place = placeOf(release);
  if (existsSync(path.join(place.folder, DONE))) return place;
  const pythons = await foundPythons();
  const python = pythons.find(({ minor }) => minor >= LEAST_PYTHON);
  if (!python) throw new Error(`SkyRL needs Python 3.${LEAST_PYTHON} or newer with ensurepip, and there is ${pythons.map(({ minor }) => `3.${minor}`).join(', ') || 'none'}.`);
  return await install(release, place, python.command);
}

async function install({ version, packages }: Release, place: InstalledSkyRl, command: string): Promise<InstalledSkyRl> {
  const { folder, python, stubs } = place;
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  const leftOut = path.join(folder, 'left-out.txt');
  await writeFile(leftOut, LEFT_OUT.map((name) => `${name} ; sys_platform == 'never'\n`).join(''));
  for (const [file, text] of Object.entries(STUBS)) {
    await mkdir(path.dirname(path.join(stubs, file)), { recursive: true });
    await writeFile(path.join(stubs, file), text);
  }
  const signal = AbortSignal.timeout(LIMIT_MS);
  try {
    await run(command, ['-m', 'venv', path.join(folder, 'python')], { signal });
    // It installs, and SkyRL starts its engine with it.
    await run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', 'uv'], { signal });
    await run(path.join(path.dirname(python), 'uv'), ['pip', 'install', '--quiet', '--python', python, '--override', leftOut, ...packages], { signal });
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    const said = signal.aborted ? 'it takes longer than five minutes' : (error as Error & { stderr?: string }).stderr?.trim().split('\n').at(-1) || (error as Error).message;
    throw new Error(`SkyRL ${version} cannot be installed: ${said}.`, { cause: error });
  }
  await writeFile(path.join(folder, DONE), '');
  return place;
}

function placeOf({ version }: Pick<Release, 'version'>): InstalledSkyRl {
  const folder = path.join(CACHE, `skyrl-${version}`);
  return { version, folder, python: path.join(folder, 'python', 'bin', 'python'), stubs: path.join(folder, 'stubs') };
}

/** On the search path and of pyenv, whose other versions are not on it. */
async function foundPythons(): Promise<{ readonly command: string; readonly minor: number }[]> {
  const ofPyenv = globSync(path.join(process.env['PYENV_ROOT'] || path.join(homedir(), '.pyenv'), 'versions', '3.*', 'bin', 'python'));
  const commands = ['python3', 'python3.12', 'python3.13', ...ofPyenv];
  const found = await Promise.all(commands.map(async (command) => {
    const { stdout } = await run(command, ['-c', 'import ensurepip, sys; print(*sys.version_info[:2])']).catch(() => ({ stdout: '' }));
    const [major, minor] = stdout.trim().split(' ').map(Number);
    return major === 3 && minor !== undefined ? [{ command, minor }] : [];
  }));
  return found.flat();
}
