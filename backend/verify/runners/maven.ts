import { expectJunitFiles } from './junit-files.ts';
import { programUses, withEdits } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const PROGRAMS = ['mvn', 'mvnw'];

const BUILD = {
  failed: /^\[ERROR\] Failed to execute goal \S+:[\w-]*(?:compiler|kotlin|scala|groovy|gmavenplus)[\w-]*:\S+:[\w-]*compile/im,
  error: /(?<=^\[ERROR\] )\S+\.(?:java|kt|scala|groovy):\[?\d.*/m,
};

/**
 * Runs all modules even if one fails. Java finds the user's repository without HOME. Maven keeps beside each artifact from which mirror it came, and
 * offline takes only what came from those that are configured; the user's settings are hidden, so this is not asked. The names are those of Maven 3 and 4.
 */
const OPTIONS = [
  ' --batch-mode --offline --fail-at-end',
  ...['aether.enhancedLocalRepository.trackingFilename', 'aether.lrm.enhanced.trackingFilename'].map((name) => `-D${name}=none`),
].join(' ');

/**
 * An mvnw that is a script alone looks below HOME for its Maven, up to version 3.3.1 also where MAVEN_USER_HOME is set. Where it finds none, it fails
 * without a word; see `not-installed.ts`.
 */
const MAVEN_OF_WRAPPER = `if [ -d "$MAVEN_USER_HOME/wrapper" ] && [ ! -e "$HOME/.m2" ]; then mkdir -p "$HOME/.m2" && ln -s "$MAVEN_USER_HOME/wrapper" "$HOME/.m2/wrapper"; fi
name=$(sed -n 's#^distributionUrl=.*/\\([^/]*\\)-bin\\.[a-z.]*[[:space:]]*$#\\1#p' .mvn/wrapper/maven-wrapper.properties 2>/dev/null)
[ -z "$name" ] || ls -d "$MAVEN_USER_HOME/wrapper/dists/$name"* >/dev/null 2>&1 || echo "mvnw: $name is not downloaded" >&2
`;

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
    const programs = programUses(command, PROGRAMS).map(({ program }) => program);
    const tested = withEdits(command, programs.map(({ end }) => ({ start: end, end, text: OPTIONS })));
    return {
      command: process.platform !== 'win32' && programs.some(({ text }) => text === './mvnw') ? MAVEN_OF_WRAPPER + tested : tested,
      readReport: await expectJunitFiles(run, ['**/target/surefire-reports/*.xml', '**/target/failsafe-reports/*.xml'], BUILD),
    };
  },
};
