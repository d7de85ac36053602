import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../../../support/free-port.ts';
import type { InstalledSkyRl } from './installed-skyrl.ts';

export interface SkyRlOptions {
  readonly installed: InstalledSkyRl;
  /** The folder (absolute) of the model. */
  readonly model: string;
  /** The folder (absolute) for its database, its checkpoints and its log. */
  readonly folder: string;
  /** Of its back end. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly environment?: Readonly<Record<string, string>> | undefined;
}

/** Its first start imports JAX; on a busy machine that takes a minute. */
const START_LIMIT_MS = 180_000;

/** A SkyRL on the processors of this machine, which can be killed and started again at the same address with what it has saved. */
export class SkyRlServer {
  readonly url: string;
  readonly #options: SkyRlOptions;
  readonly #port: number;
  #process: ChildProcess | undefined;

  private constructor(options: SkyRlOptions, port: number) {
    this.#options = options;
    this.#port = port;
    this.url = `http://127.0.0.1:${port}`;
  }

  static async start(options: SkyRlOptions): Promise<SkyRlServer> {
    await mkdir(options.folder, { recursive: true });
    const server = new SkyRlServer(options, await freePort());
    await server.start();
    return server;
  }

  /** @throws Error with the end of its log where it ends or is not ready in three minutes */
  async start(): Promise<void> {
    const { installed: { python, stubs, folder: home }, model, folder, settings, environment } = this.#options;
    const bin = path.dirname(python);
    const log = path.join(folder, 'skyrl.log');
    // It reads the command line of its parent, which has to be "uv run", to start its engine.
    const child = spawn(path.join(bin, 'uv'), [
      'run', '--no-project', '--python', python, '-m', 'skyrl.tinker.api', '--base-model', model, '--backend', 'jax', '--host', '127.0.0.1', '--port', String(this.#port),
      '--database-url', `sqlite:///${path.join(folder, 'skyrl.sqlite')}`, '--checkpoints-base', path.join(folder, 'checkpoints'), '--backend-config', JSON.stringify(settings),
    ], {
      cwd: folder,
      // A group of its own: it is killed with its engine.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: {
        ...process.env, PATH: `${bin}:${process.env['PATH'] ?? ''}`, PYTHONPATH: stubs, UV_OFFLINE: '1', HF_HUB_OFFLINE: '1', JAX_PLATFORMS: 'cpu',
        // What JAX compiled, the server that is started again does not compile again.
        JAX_COMPILATION_CACHE_DIR: path.join(home, 'compiled'), JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS: '0.2',
        ...environment,
      },
    });
    this.#process = child;
    const out = createWriteStream(log, { flags: 'a' });
    child.stdout.pipe(out, { end: false });
    child.stderr.pipe(out, { end: false });
    const until = Date.now() + START_LIMIT_MS;
    while (child.exitCode === null && child.signalCode === null && Date.now() < until) {
      if (await fetch(`${this.url}/api/v1/healthz`).then(({ ok }) => ok, () => false)) return;
      await delay(200);
    }
    await this.kill();
    throw new Error(`SkyRL is not ready: ${(await readFile(log, 'utf8')).slice(-2_000)}`);
  }

  /** With SIGKILL, in the middle of whatever it does. */
  async kill(): Promise<void> {
    const child = this.#process;
    this.#process = undefined;
    if (child?.pid === undefined) return;
    const closed = once(child, 'close');
    try {
      process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended by itself.
      return;
    }
    await closed;
  }
}
