import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

it('onnxruntime has nothing to warn of, such as a shape that is not what the model says', async () => {
  const script = fileURLToPath(new URL('warned-of.ts', import.meta.url));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [script]);
  expect(stdout).toBe('done\n');
  expect(stderr).not.toContain('[W:onnxruntime');
}, 60_000);
