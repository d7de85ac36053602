import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { shellQuote } from '../sandbox/sandbox.ts';
import { ReportError } from './test-report.ts';
import { readJunitFiles } from './junit.ts';
import { programUses, withEdits } from './shell-words.ts';
import type { TestRunner } from './test-runner.ts';

/** No project has a folder of this name, so the build starts from nothing. */
const BUILD_FOLDER = 'conductor-build';

/** ctest, read from the JUnit file that it writes since CMake 3.21. The tests are separate programs and do not see the file. */
export const ctest: TestRunner<'ctest'> = {
  name: 'ctest',
  manifests: ['CMakeLists.txt'],
  idRoot: 'no source',
  buildsFoldersBelow: true,

  async detect(folder) {
    const lists = await folder.text('CMakeLists.txt');
    if (lists === undefined) return [];
    const hasTests = /^\s*(?:enable_testing|add_test|include\s*\(\s*CTest)\b/im;
    if (!hasTests.test(lists) && !(await folder.hasFile(/(^|\/)CMakeLists\.txt$/, { text: hasTests }))) return [];
    return [`cmake -S . -B ${BUILD_FOLDER} && cmake --build ${BUILD_FOLDER} && ctest --test-dir ${BUILD_FOLDER}`];
  },

  understands: (command) => programUses(command, ['ctest']).length > 0,
  configuration: [/(^|\/)(cmakelists\.txt|cmake(user)?presets\.json|conanfile\.(txt|py)|vcpkg(-configuration)?\.json)$/, /\.cmake(\.in)?$/],

  async prepare({ command, shown, report }) {
    const uses = programUses(command, ['ctest']);
    if (uses.length === 0)
      throw new ReportError(`"${command}" cannot be made to write a report: name the "ctest" command that it runs.`);
    const files = uses.map(() => path.join(report, `${randomUUID()}.xml`));
    const edits = uses.map(({ program: { end } }, index) => ({
      start: end,
      end,
      text: ` --no-tests=error --output-junit ${shellQuote(files[index] ?? '')}`,
    }));
    return { command: withEdits(command, edits), readReport: async () => await readJunitFiles(files, shown) };
  },
};
