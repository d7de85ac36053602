import { execFile, spawn } from 'node:child_process';
import { chmod, copyFile, cp, mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export type Engine = 'docker' | 'podman';

/**
 * Whether the engine starts containers here, and the sentence to put into a skipped test's name where it does not. Where it does, it has an
 * image of this name then, made of this machine's programs.
 */
export async function tryEngine(engine: Engine, image: string, more: MoreOfImage = {}): Promise<{ engine: Engine; available: boolean; note: string }> {
  if (process.platform !== 'linux') return { engine, available: false, note: 'not tried, the image is made of the programs of a Linux machine' };
  try {
    await run(engine, ['version', '--format', '{{.Server.Version}}'], { timeout: 10_000 });
  } catch {
    return { engine, available: false, note: `not tried, no ${engine} answers here` };
  }
  try {
    await makeImage(engine, image, more);
    await run(engine, ['run', '--rm', '--network', 'none', image, '/bin/sh', '-c', 'exit 0'], { timeout: 120_000 });
    return { engine, available: true, note: `with ${engine}` };
  } catch (error) {
    await run(engine, ['rmi', '--force', image]).catch(() => undefined);
    const said = (error as Error).message.trim().split('\n').at(-1)?.slice(0, 200);
    return { engine, available: false, note: `not tried, ${engine} starts no container here: ${said}` };
  }
}

/** What the engine's client prints. */
export async function ask(engine: Engine, ...words: string[]): Promise<string> {
  return (await run(engine, words)).stdout.trim();
}

export interface MoreOfImage {
  /** Names of programs. */
  readonly programs?: readonly string[];
  /** Folders of this machine, by their paths in the image. */
  readonly folders?: Readonly<Record<string, string>>;
}

const PROGRAMS = ['sh', 'cat', 'ls', 'sleep', 'grep', 'touch'];

/** Makes an image of this machine's own Node and a few programs, since none can be counted on to be there. Removed with `rmi`. */
async function makeImage(engine: Engine, name: string, { programs: more = [], folders = {} }: MoreOfImage): Promise<void> {
  const root = await mkdtemp(path.join(tmpdir(), 'container-image-'));
  try {
    const programs = await Promise.all([...PROGRAMS, ...more].map(async (program) => (await run('/bin/sh', ['-c', `command -v ${program}`])).stdout.trim()));
    const wanted = new Map([...programs.map((program) => [program, `/bin/${path.basename(program)}`] as const), [process.execPath, '/bin/node']]);
    for (const program of wanted.keys()) for (const library of await librariesOf(program)) wanted.set(library, library);
    for (const [from, to] of wanted) {
      await mkdir(path.join(root, path.dirname(to)), { recursive: true });
      await copyFile(await realpath(from), path.join(root, to));
    }
    for (const [to, from] of Object.entries(folders)) await cp(from, path.join(root, to), { recursive: true, verbatimSymlinks: true });
    await mkdir(path.join(root, 'tmp'));
    // For users other than the one who made it.
    await chmod(root, 0o755);
    const packed = spawn('tar', ['-C', root, '-c', '.'], { stdio: ['ignore', 'pipe', 'inherit'] });
    const imported = spawn(engine, ['import', '-', name], { stdio: [packed.stdout, 'ignore', 'inherit'] });
    const code = await new Promise<number | null>((resolve, reject) => imported.once('error', reject).once('close', resolve));
    if (code !== 0) throw new Error(`${engine} import ended with ${code}.`);
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

/** Absolute paths, the loader's among them. */
async function librariesOf(program: string): Promise<string[]> {
  const { stdout } = await run('ldd', [program]);
  return [...stdout.matchAll(/(?:=> |^\s*)(\/\S+)/gm)].map(([, library]) => library as string);
}
