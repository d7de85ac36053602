import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';

const run = promisify(execFile);
/** PYTHON names an interpreter that has harbor. */
const python = process.env['PYTHON'] ?? 'python3';
const hasHarbor = await run(python, ['-c', 'import harbor.agents.installed.base']).then(() => true, () => false);
const pathOf = (name: string): string => fileURLToPath(new URL(name, import.meta.url));

interface Checked {
  readonly version: string;
  readonly done: readonly { readonly exec?: string; readonly upload?: string | readonly string[]; readonly to?: string; readonly env?: readonly string[] }[];
  readonly context: Readonly<Record<string, unknown>>;
}

it.skipIf(!hasHarbor)(`Harbor makes the agent, installs it, and has it solve (${hasHarbor ? 'tried' : `not tried, ${python} has no harbor`})`, async () => {
  const env = { ...process.env, PYTHONPATH: pathOf('../../packaging/harbor'), PYTHONDONTWRITEBYTECODE: '1' };
  const { stdout } = await run(python, [pathOf('harbor_check.py')], { env });
  const { version, done, context } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '') as Checked;
  expect(version).toBe('0.1.0');
  expect(done).toContainEqual({ upload: ['dist/bin/rg', 'dist/cli.mjs'], to: '/installed-agent/conductor' });
  expect(done).toContainEqual({ upload: 'workers.json', to: '/installed-agent/workers.json' });
  const solve = done.at(-1);
  // The question is one argument of the shell, whatever it has in it.
  expect(solve?.exec).toContain(`solve 'Mend it, don'"'"'t break it; $(touch x)' --workspace "$PWD" --apply`);
  expect(solve?.exec).toContain('--max-usd 3');
  // Keys are there while the agent runs, and at no other time.
  expect(done.filter(({ env: names = [] }) => names.length > 0)).toEqual([solve]);
  expect(solve?.env).toEqual(['SOME_KEY']);
  expect(context).toMatchObject({ n_input_tokens: 16, n_cache_tokens: 5, n_output_tokens: 9, cost_usd: 0.5 });
}, 120_000);
