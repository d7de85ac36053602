import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { CommandLine } from '../common/command-line.ts';
import { Signal } from '../common/signal.ts';

/** `conductor serve` as a process of this window. It ends with its standard input, so also with an extension host that is killed. */
export class EndpointProcess {
  /** The address, or undefined when it has ended. */
  readonly changed = new Signal<string | undefined>();
  #child: ChildProcess | undefined;
  #address: string | undefined;

  /** Where programs reach it; undefined while it is off. */
  get address(): string | undefined {
    return this.#address;
  }

  /** @returns the address. @throws an error with the last line that it wrote, if it ends before */
  async start({ command, args, env }: CommandLine): Promise<string> {
    if (this.#address !== undefined) return this.#address;
    if (this.#child) throw new Error('The endpoint is being started.');
    const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
    this.#child = child;
    const started = Promise.withResolvers<string>();
    let last = '';
    createInterface(child.stderr).on('line', (line) => { last = line; });
    createInterface(child.stdout).once('line', (line) => started.resolve(line.trim()));
    // Written to nobody: the process may be gone already.
    child.stdin.on('error', () => {});
    child.once('error', started.reject).once('close', () => {
      started.reject(new Error(last));
      this.#child = undefined;
      this.#enter(undefined);
    });
    const address = await started.promise;
    this.#enter(address);
    return address;
  }

  async stop(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
    child.stdin?.end();
    await ended;
  }

  dispose(): void {
    this.#child?.stdin?.end();
  }

  #enter(address: string | undefined): void {
    if (this.#address === address) return;
    this.#address = address;
    this.changed.emit(address);
  }
}
