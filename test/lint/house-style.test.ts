import path from 'node:path';
import { ESLint } from 'eslint';
import { describe, expect, it } from 'vitest';

const root = path.join(import.meta.dirname, '..', '..');

/** Lints `code` as if it stood in `file`, which has to exist for the type information. @returns the rules it breaks. */
async function rulesBrokenBy(code: string, file: string): Promise<(string | null)[]> {
  const [result] = await new ESLint({ cwd: root }).lintText(code, { filePath: path.join(root, file) });
  return (result?.messages ?? []).map(({ ruleId }) => ruleId);
}

describe('the house style', () => {
  it('sees types: a promise that nobody waits for is found in TypeScript and in the panel', async () => {
    const code = 'async function save(): Promise<void> {}\nexport function leave(): void { save(); }\n';
    expect(await rulesBrokenBy(code, 'backend/protocol/version.ts')).toEqual(['@typescript-eslint/no-floating-promises']);
    expect(await rulesBrokenBy(code, 'webview/main.tsx')).toEqual(['@typescript-eslint/no-floating-promises']);
  });

  it('refuses any, default exports and barrels', async () => {
    const code = "export const loose = (value: any): unknown => value;\nexport * from './version.ts';\nexport default loose;\n";
    expect(await rulesBrokenBy(code, 'backend/protocol/plan.ts')).toEqual([
      '@typescript-eslint/no-explicit-any', 'no-restricted-syntax', 'no-restricted-syntax',
    ]);
  });
});
