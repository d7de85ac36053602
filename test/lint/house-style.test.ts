import path from 'node:path';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');

// One for all, so that the types of the whole repository are read once.
const eslint = new ESLint({ cwd: root });

/** Lints `code` as if it stood in `file`, which has to exist for the type information. @returns the rules it breaks. */
async function rulesBrokenBy(code: string, file: string): Promise<(string | null)[]> {
  const [result] = await eslint.lintText(code, { filePath: path.join(root, file) });
  return (result?.messages ?? []).map(({ ruleId }) => ruleId);
}

// The first reads the types, which takes minutes where a machine does much else.
describe('the house style', { timeout: 240_000 }, () => {
  it('sees types: a promise that nobody waits for is found in TypeScript and in the panel', async () => {
    const code = 'async function save(): Promise<void> {}\nexport function leave(): void { save(); }\n';
    expect(await rulesBrokenBy(code, 'backend/protocol/version.ts')).toEqual(['@typescript-eslint/no-floating-promises']);
    expect(await rulesBrokenBy(code, 'webview/main.tsx')).toEqual(['@typescript-eslint/no-floating-promises']);
  });

  it('refuses a promise in the backend that may reject unheard, and a value from before an await that overwrites a newer one', async () => {
    const dropped = 'async function save(): Promise<void> {}\nexport function leave(): void { void save(); }\n';
    expect(await rulesBrokenBy(dropped, 'backend/protocol/version.ts')).toEqual(['@typescript-eslint/no-floating-promises']);
    const handled = dropped.replace('void save()', 'save().catch(() => undefined)');
    expect(await rulesBrokenBy(handled, 'backend/protocol/version.ts')).toEqual([]);
    const outdated = 'let sum = 0;\nexport async function add(more: Promise<number>): Promise<void> { sum = sum + (await more); }\nexport const total = (): number => sum;\n';
    expect(await rulesBrokenBy(outdated, 'backend/protocol/version.ts')).toEqual(['require-atomic-updates']);
  });

  it('refuses any, default exports and barrels', async () => {
    const code = "export const loose = (value: any): unknown => value;\nexport * from './version.ts';\nexport default loose;\n";
    expect(await rulesBrokenBy(code, 'backend/protocol/plan.ts')).toEqual([
      '@typescript-eslint/no-explicit-any', 'no-restricted-syntax', 'no-restricted-syntax',
    ]);
  });
});
