import { expectJunitFiles } from './junit-files.ts';
import { programUses, withEdits } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const PROGRAMS = ['mvn', 'mvnw'];

const BUILD = {
  failed: /^\[ERROR\] Failed to execute goal \S+:[\w-]*(?:compiler|kotlin|scala|groovy|gmavenplus)[\w-]*:\S+:[\w-]*compile/im,
  error: /(?<=^\[ERROR\] )\S+\.(?:java|kt|scala|groovy):\[?\d.*/m,
};

/** Maven, read from the JUnit files of surefire and failsafe. */
export const maven: TestRunner<'maven'> = {
  name: 'maven',
  manifests: ['pom.xml'],
  idRoot: 'java class',
  buildsFoldersBelow: true,
  detect: async (folder) => ((await folder.has('pom.xml')) ? [(await folder.has('mvnw')) ? './mvnw test' : 'mvn test'] : []),
  understands: (command) => programUses(command, PROGRAMS).length > 0,
  configuration: [/(^|\/)(pom\.xml|mvnw(\.cmd)?|testng[^/]*\.xml|toolchains\.xml)$/, /(^|\/)\.mvn\//],

  async prepare({ command, ...run }) {
    const edits = programUses(command, PROGRAMS).map(({ program }) => ({
      start: program.end,
      end: program.end,
      // Runs all modules even if one fails. Java finds the user's repository without HOME.
      text: ' --batch-mode --offline --fail-at-end',
    }));
    return {
      command: withEdits(command, edits),
      readReport: await expectJunitFiles(run, ['**/target/surefire-reports/*.xml', '**/target/failsafe-reports/*.xml'], BUILD),
    };
  },
};
