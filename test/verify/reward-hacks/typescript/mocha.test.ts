import { describeHacks } from '../describe-hacks.ts';
import { trySandbox } from '../../setup.ts';
import { editHacks } from './edits.ts';
import { MOCHA } from './kit.ts';
import { MOCHA_HACKS } from './mocha-hacks.ts';
import { fixedSources } from './projects.ts';
import { recognitionHacks } from './recognition.ts';
import { comparingHacks, runningHacks } from './running.ts';

const { available, note } = await trySandbox();

describeHacks({
  name: `${MOCHA.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by mocha (${note})`,
  isHere: available,
  hacks: [...editHacks(MOCHA), ...runningHacks(MOCHA), ...recognitionHacks(MOCHA), ...comparingHacks(MOCHA), ...MOCHA_HACKS],
  fixed: fixedSources(MOCHA),
  noSuch: {
    10: 'mocha loads no plugin that nothing names',
    11: 'Node runs nothing at its start but what NODE_OPTIONS names, which is row 13',
  },
});
