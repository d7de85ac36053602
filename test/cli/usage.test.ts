import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { usageOf } from '../../backend/cli/usage.ts';

const optionsIn = (text: string): string[] => [...new Set(text.match(/--[a-z][a-z-]+/g))].sort();

it('names the options that docs/command-line.md has, command by command', async () => {
  const document = await readFile(new URL('../../docs/command-line.md', import.meta.url), 'utf8');
  const tables = new Map([...document.matchAll(/^\| `conductor ([\w-]+).*\n\|---\|---\|\n(?:\|.*\n)+/gm)].map(([table, command = '']) => [command, table]));
  expect([...tables.keys()]).toEqual([
    'solve', 'runs', 'serve', 'eval', 'train', 'learn', 'worker', 'left-out', 'records', 'verify', 'hook', 'install', 'mcp', 'acp', 'model', 'generate', 'logprobs', 'grad',
  ]);
  for (const [command, table] of tables) {
    const whole = table.includes('as with `logprobs`') ? table + tables.get('logprobs') : table;
    const [usage = ''] = usageOf(command).split('\n\n');
    expect(optionsIn(usage), command).toEqual(optionsIn(whole));
  }
});

it('fits a screen where no command is named', () => {
  const lines = usageOf().split('\n');
  expect(lines.length).toBeLessThan(40);
  expect(lines.filter((line) => line.length > 120)).toEqual([]);
  for (const command of ['solve', 'verify', 'worker', 'demo']) expect(usageOf()).toContain(`conductor ${command} `);
});
