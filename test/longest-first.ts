import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST_TEST_FILES } from './suites.ts';

/** On a fresh checkout Vitest does not know how long a file takes, and takes its size for that. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const isLong = ({ moduleId, project }: TestSpecification): boolean => {
      const file = path.relative(project.config.root, moduleId).replaceAll('\\', '/');
      return LONGEST_TEST_FILES.some((pattern) => path.matchesGlob(file, pattern));
    };
    return [...sorted.filter(isLong), ...sorted.filter((file) => !isLong(file))];
  }
}
