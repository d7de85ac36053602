import { createRequire } from 'node:module';

export type Native = (...values: readonly unknown[]) => unknown;

/** What we use of koffi (https://koffi.dev): functions of Windows, by their declarations in C. */
export interface Koffi {
  load(library: string): { func(declaration: string): Native };
  struct(name: string, members: Readonly<Record<string, string>>): unknown;
}

/** A function of Windows failed. The message says which. */
export class WindowsError extends Error {
  override readonly name = 'WindowsError';
}

/** The part of koffi that is compiled, for this machine. No other system needs it. */
export const loadKoffi = (): Koffi => createRequire(import.meta.url)(`@koromix/koffi-win32-${process.arch}`) as Koffi;

/** @throws WindowsError unless a function has succeeded; `kernel` is kernel32.dll */
export function check(name: string, result: unknown, kernel: { func(declaration: string): Native }): void {
  if (!result) throw new WindowsError(`${name} failed with error ${String(kernel.func('uint32_t __stdcall GetLastError()')())}.`);
}
