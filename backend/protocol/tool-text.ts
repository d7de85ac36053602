import * as l10n from '@vscode/l10n';
import type { ToolVersion } from './tool-version.ts';

// Kept apart from the schema, which must not be in the panel's bundle.

/** What the tests ran with, for people: `Node 20.18.1, as .nvmrc asks`. */
export function toolText({ name, version, of, asked }: ToolVersion): string {
  const program = of === undefined ? `${name} ${version}` : l10n.t('{0} {1} of {2}', name, version, of);
  if (asked === undefined) return program;
  return asked.isMet ? l10n.t('{0}, as {1} asks', program, asked.by) : l10n.t('{0} ({1} asks for {2})', program, asked.by, asked.version);
}
