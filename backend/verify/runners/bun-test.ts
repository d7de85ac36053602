import path from 'node:path';
import { shellQuote } from '../sandbox/shell-quote.ts';
import { binFolders, withOptions } from './javascript-project.ts';
import { readJunitFiles } from './junit.ts';
import { scriptUses, subcommandUses } from './subcommands.ts';
import { type TestRunner, WRITABLE_REPORT } from './test-runner.ts';

/** `bun test`, read from its JUnit file. Tests and the code under test run in the process that writes it. */
export const bunTest: TestRunner<'bun'> = {
  name: 'bun',
  manifests: ['package.json'],
  idRoot: 'file',
  async detect(folder) {
    const scripts = await scriptUses(folder, 'bun', 'test');
    if (scripts.length > 0) return scripts;
    const found = await folder.packageFile();
    const isFree = found?.scripts.test === undefined || /no test specified/.test(found.scripts.test);
    return isFree && (await folder.hasFile(/\.(?:test|spec)\.[cm]?[jt]sx?$/, { text: /['"]bun:test['"]/, manifests: ['package.json'] })) ? ['bun test'] : [];
  },
  understands: (command) => subcommandUses(command, 'bun', 'test').length > 0,
  configuration: [/(^|\/)bunfig\.toml$/, /(^|\/)bun\.lockb?$/],
  provesAtMost: WRITABLE_REPORT,
  keepsOneReport: true,

  async prepare({ command, copy, shown, report }) {
    const file = path.join(report, 'bun.xml');
    return {
      command: withOptions(command, ['bun'], {
        remove: ['--reporter', '--reporter-outfile', '--bail'],
        flags: ['--watch', '--hot', '--coverage', '--update-snapshots', '-u'],
        add: `--reporter=junit --reporter-outfile=${shellQuote(file)}`,
      }),
      environment: { CI: 'true' },
      programFolders: await binFolders({ command, copy }),
      readReport: () => readJunitFiles([file], shown, { namesBy: 'suites' }),
    };
  },
};
