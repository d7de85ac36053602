import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { shellQuote } from '../sandbox/sandbox.ts';
import { expectJunitFiles } from './junit-files.ts';
import { programUses, withEdits, type Edit } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

const PROGRAMS = ['gradle', 'gradlew'];
const BUILD_FILES = ['build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts'];

/** Gradle, read from the JUnit files of its test tasks. */
export const gradle: TestRunner<'gradle'> = {
  name: 'gradle',
  manifests: BUILD_FILES,
  idRoot: 'java class',
  buildsFoldersBelow: true,

  async detect(folder) {
    if (!(await folder.has(...BUILD_FILES))) return [];
    return [(await folder.has('gradlew')) ? './gradlew test' : 'gradle test'];
  },

  understands: (command) => programUses(command, PROGRAMS).length > 0,
  configuration: [/(^|\/)([^/]+\.gradle(\.kts|\.dcl)?|(gradle|local)\.properties|gradlew(\.bat)?|[^/]*\.lockfile)$/, /(^|\/)(gradle|buildsrc|build-logic)\//],

  async prepare({ command, tools, ...run }) {
    const wrapper = path.join(tools, 'gradlew');
    await writeFile(wrapper, GRADLE_WRAPPER, { mode: 0o755 });
    const edits = programUses(command, PROGRAMS).map(({ program: { text, start, end } }): Edit =>
      // On Windows, this is gradlew.bat.
      text === './gradlew' && process.platform !== 'win32' ? { start, end, text: shellQuote(wrapper) + OPTIONS } : { start: end, end, text: OPTIONS },
    );
    return { command: withEdits(command, edits), readReport: await expectJunitFiles(run, ['**/build/test-results/**/*.xml'], BUILD) };
  },
};

const BUILD = {
  failed: /^(?:> Task :\S*compile\w* FAILED|Execution failed for task ':\S*compile\w*')/im,
  error: /^(?:e: )?\S+\.(?:java|kt|scala|groovy):\d+.*error: .*|^e: .*/m,
};

const OPTIONS = ' --offline --no-daemon --continue --no-build-cache';

/**
 * gradlew locks the folder of its installed Gradle, which is read-only here. So this wrapper starts that Gradle directly. The variable is
 * Gradle's own, for a read-only cache; see `toolchains.ts`.
 */
const GRADLE_WRAPPER = `#!/bin/sh
name=$(sed -n 's#^distributionUrl=.*/\\([^/]*\\)\\.zip[[:space:]]*$#\\1#p' gradle/wrapper/gradle-wrapper.properties 2>/dev/null)
for program in "$GRADLE_RO_DEP_CACHE/../wrapper/dists/$name"/*/*/bin/gradle; do
  if [ -n "$name" ] && [ -x "$program" ]; then exec "$program" "$@"; fi
done
[ -z "$name" ] || echo "gradlew: $name is not downloaded" >&2
exec ./gradlew "$@"
`;
