import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { shellQuote } from '../sandbox/sandbox.ts';
import { ReportError } from './test-report.ts';
import { buildAhead, CARGO_ENVIRONMENT, fromLayer } from './cargo-layer.ts';
import { cargoTest } from './cargo-test.ts';
import { expectJunitFiles } from './junit-files.ts';
import { programUses, withEdits, type ProgramUse } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const BUILD = { failed: /^error: could not compile `/m, error: /^error(?:\[E\d+\])?: .*/m };

/** `cargo nextest run`, read from its JUnit file. It starts a process for each test and judges by its exit code. */
export const cargoNextest: TestRunner<'nextest'> = {
  name: 'nextest',
  manifests: ['Cargo.toml'],
  idRoot: 'cargo target',
  buildsFoldersBelow: true,
  detect: async (folder) => ((await folder.text('.config/nextest.toml')) === undefined ? [] : ['cargo nextest run']),
  understands: (command) => runUses(command).length > 0,
  configuration: [...cargoTest.configuration, /(^|\/)\.config\/nextest[^/]*\.toml$/],

  async prepare({ command, tools, layer, ...run }) {
    const uses = runUses(command);
    if (uses.length === 0)
      throw new ReportError(`"${command}" cannot be made to write a report: name the "cargo nextest run" command that it runs.`);
    const configuration = path.join(tools, 'nextest.toml');
    // This configuration has the lowest priority. A project's own file name still applies, in the same folder.
    await writeFile(configuration, '[profile.default.junit]\npath = "junit.xml"\n');
    const options = ` --offline --no-fail-fast --tool-config-file ${shellQuote(`conductor:${configuration}`)}`;
    const edits = uses.map(({ arguments: [, run] }) => ({ start: run?.end ?? 0, end: run?.end ?? 0, text: options }));
    return {
      command: `${fromLayer(layer)}${withEdits(command, edits)}`,
      environment: CARGO_ENVIRONMENT,
      readReport: await expectJunitFiles(run, ['**/target/nextest/*/*.xml'], BUILD),
    };
  },

  build: (run) => buildAhead(run, runUses(run.command).map(({ arguments: [, verb] }) => verb)),
};

const runUses = (command: string): readonly ProgramUse[] =>
  programUses(command, ['cargo']).filter(
    ({ arguments: [first, second] }) => first?.text === 'nextest' && (second?.text === 'run' || second?.text === 'r'),
  );
