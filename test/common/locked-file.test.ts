import { expect, it } from 'vitest';
import { whileLocked } from '../../backend/common/locked-file.ts';

const failing = (code: string, times: number): { readonly action: () => Promise<number>; readonly calls: () => number } => {
  let calls = 0;
  const action = (): Promise<number> => (++calls <= times ? Promise.reject(Object.assign(new Error(code), { code })) : Promise.resolve(calls));
  return { action, calls: () => calls };
};

it('waits on Windows until a scanner has closed the file', async () => {
  expect(await whileLocked(failing('EPERM', 3).action, 'win32')).toBe(4);
  expect(await whileLocked(failing('EBUSY', 1).action, 'win32')).toBe(2);
});

it('does not wait for what waiting does not mend, nor on other systems', async () => {
  const full = failing('ENOSPC', 1);
  await expect(whileLocked(full.action, 'win32')).rejects.toMatchObject({ code: 'ENOSPC' });
  const denied = failing('EPERM', 1);
  await expect(whileLocked(denied.action, 'linux')).rejects.toMatchObject({ code: 'EPERM' });
  expect([full.calls(), denied.calls()]).toEqual([1, 1]);
});

it('gives up at last, with the error', async () => {
  await expect(whileLocked(failing('EBUSY', 100).action, 'win32')).rejects.toMatchObject({ code: 'EBUSY' });
});
