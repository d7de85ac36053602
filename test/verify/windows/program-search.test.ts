import { describe, expect, it } from 'vitest';
import { findProgram, isBatchFile, nameOnWindows } from '../../../backend/verify/sandbox/windows/program-search.ts';

const FILES = new Set(['C:\\node\\node.exe', 'C:\\node\\npm', 'C:\\node\\npm.cmd', 'C:\\copy\\node.cmd', 'C:\\copy\\node_modules\\.bin\\mocha', 'C:\\copy\\node_modules\\.bin\\mocha.cmd', 'C:\\apps\\python3.exe', 'C:\\python\\python.exe']);
const on = (...folders: string[]): Parameters<typeof findProgram>[1] => ({ folders, cwd: 'C:\\copy', isFile: (file) => FILES.has(file) });

describe('a program', () => {
  it('is found on PATH by the extensions of Windows, and never in the current folder', () => {
    expect(findProgram('node', on('C:\\other', 'C:\\node'))).toBe('C:\\node\\node.exe');
    expect(findProgram('npm', on('C:\\node'))).toBe('C:\\node\\npm.cmd');
    expect(findProgram('npm.cmd', on('C:\\node'))).toBe('C:\\node\\npm.cmd');
    expect(findProgram('node', on('C:\\other'))).toBeUndefined();
  });

  it('with a folder is found from the folder of the command', () => {
    expect(findProgram('node_modules\\.bin\\mocha', on('C:\\node'))).toBe('C:\\copy\\node_modules\\.bin\\mocha.cmd');
    expect(findProgram('.\\node', on('C:\\node'))).toBe('C:\\copy\\node.cmd');
    expect(findProgram('C:\\node\\node', on())).toBe('C:\\node\\node.exe');
  });

  it('is a batch file by what is found, or by its name', () => {
    expect(['npm', 'node', 'nothing', 'nothing.BAT'].map((name) => isBatchFile(name, on('C:\\node')))).toEqual([true, false, false, true]);
  });

  it('is called python where the first folder with a Python has that name', () => {
    expect(nameOnWindows('python3', on('C:\\python', 'C:\\apps'))).toBe('python');
    expect(nameOnWindows('python3', on('C:\\apps', 'C:\\python'))).toBe('python3');
    expect(nameOnWindows('python3', on('C:\\node'))).toBe('python3');
    expect(nameOnWindows('node', on('C:\\python'))).toBe('node');
  });
});
