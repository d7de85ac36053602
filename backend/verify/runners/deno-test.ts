import path from 'node:path';
import { shellQuote } from '../sandbox/shell-quote.ts';
import { binFolders, withOptions } from './javascript-project.ts';
import { readJunitFiles } from './junit.ts';
import { scriptUses, subcommandUses } from './subcommands.ts';
import { type TestRunner, WRITABLE_REPORT } from './test-runner.ts';

/** `deno test`, read from its JUnit file. The tasks of `deno.json` are scripts. A file that does not pass deno's type check leaves no report. */
export const denoTest: TestRunner<'deno'> = {
  name: 'deno',
  manifests: ['deno.json', 'deno.jsonc', 'package.json'],
  idRoot: 'file',
  async detect(folder) {
    const scripts = await scriptUses(folder, 'deno', 'test');
    if (scripts.length > 0) return scripts;
    const text = (await folder.text('deno.json')) ?? (await folder.text('deno.jsonc'));
    if (text === undefined) return [];
    const task = /"test"\s*:\s*(?:\{[^}]*"command"\s*:\s*)?"((?:[^"\\]|\\.)*)"/.exec(/"tasks"\s*:\s*\{[\s\S]*/.exec(text)?.[0] ?? '')?.[1];
    const command = task === undefined ? undefined : unescaped(task);
    return [command !== undefined && subcommandUses(command, 'deno', 'test').length > 0 ? command : 'deno test'];
  },
  understands: (command) => subcommandUses(command, 'deno', 'test').length > 0,
  configuration: [/(^|\/)deno\.(?:jsonc?|lock)$/, /(^|\/)import_map\.json$/],
  provesAtMost: WRITABLE_REPORT,
  keepsOneReport: true,

  async prepare({ command, copy, shown, report }) {
    const file = path.join(report, 'deno.xml');
    return {
      command: withOptions(command, ['deno'], {
        remove: ['--junit-path', '--reporter', '--coverage', '--fail-fast'],
        flags: ['--watch', '--doc'],
        add: `--junit-path=${shellQuote(file)}`,
      }),
      environment: { CI: 'true', NO_COLOR: '1' },
      programFolders: await binFolders({ command, copy }),
      readReport: () => readJunitFiles([file], shown, { namesBy: 'suites' }),
    };
  },
};

/** The text of a JSON string without its quotes; undefined if it is none. */
function unescaped(written: string): string | undefined {
  try {
    return JSON.parse(`"${written}"`) as string;
  } catch {
    return undefined;
  }
}
