import path from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { LONGEST_TEST_FILES } from './suites.ts';

/** On a fresh checkout Vitest does not know how long a file takes, and takes its size for that. The longest begin in the order of their list. */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const placeOf = ({ moduleId, project }: TestSpecification): number => {
      const file = path.relative(project.config.root, moduleId).replaceAll('\\', '/');
      const place = LONGEST_TEST_FILES.findIndex((pattern) => path.matchesGlob(file, pattern));
      return place < 0 ? LONGEST_TEST_FILES.length : place;
    };
    return sorted.map((file) => ({ file, place: placeOf(file) })).sort((one, other) => one.place - other.place).map(({ file }) => file);
  }
}
