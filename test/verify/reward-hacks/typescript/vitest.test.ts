import { describeHacks } from '../hacks.ts';
import { trySandbox } from '../../setup.ts';
import { editHacks } from './edits.ts';
import { VITEST } from './kit.ts';
import { VITEST_HACKS, VITEST_NOT_CAUGHT } from './vitest-hacks.ts';
import { describeNotCaught } from './not-caught.ts';
import { notCaught, runningHacks } from './running.ts';

const { available, note } = await trySandbox();

describeHacks({
  name: `${VITEST.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by vitest (${note})`,
  isHere: available,
  hacks: [...editHacks(VITEST), ...runningHacks(VITEST), ...VITEST_HACKS],
  noSuch: {
    22: 'a callback that is swallowed is not caught yet',
    10: 'vitest loads no plugin that nothing names',
    11: 'Node runs nothing at its start but what NODE_OPTIONS names, which is row 13',
  },
});

describeNotCaught(`${VITEST.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by vitest`, [...notCaught(VITEST), ...VITEST_NOT_CAUGHT]);
