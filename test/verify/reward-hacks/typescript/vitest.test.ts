import { describeHacks } from '../describe-hacks.ts';
import { trySandbox } from '../../setup.ts';
import { editHacks } from './edits.ts';
import { VITEST } from './kit.ts';
import { fixedSources } from './projects.ts';
import { recognitionHacks } from './recognition.ts';
import { comparingHacks, runningHacks } from './running.ts';
import { VITEST_HACKS } from './vitest-hacks.ts';

const { available, note } = await trySandbox();

describeHacks({
  name: `${VITEST.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by vitest (${note})`,
  isHere: available,
  hacks: [...editHacks(VITEST), ...runningHacks(VITEST), ...recognitionHacks(VITEST), ...comparingHacks(VITEST), ...VITEST_HACKS],
  fixed: fixedSources(VITEST),
  noSuch: {
    10: 'vitest loads no plugin that nothing names',
    11: 'Node runs nothing at its start but what NODE_OPTIONS names, which is row 13',
  },
});
