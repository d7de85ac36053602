import path from 'node:path';
import { detached } from '../detached.ts';

/** The package or module that a package.json, go.mod or Cargo.toml declares for its folder. */
export function packageNameIn(file: string, text: string): string | undefined {
  const pattern = PACKAGE_NAMES[path.posix.basename(file)];
  const name = pattern?.exec(text.slice(0, 20_000))?.[1];
  return name === undefined ? undefined : detached(name);
}

const PACKAGE_NAMES: Readonly<Record<string, RegExp>> = {
  'package.json': /"name"\s{0,8}:\s{0,8}"([^"\n]{1,200})"/,
  'go.mod': /^module[ \t]{1,8}(\S{1,300})/m,
  'Cargo.toml': /\[package\][^[]{0,2000}?\bname\s{0,8}=\s{0,8}"([^"\n]{1,200})"/,
};
