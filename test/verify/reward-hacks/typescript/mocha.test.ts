import { describeHacks } from '../hacks.ts';
import { trySandbox } from '../../setup.ts';
import { editHacks } from './edits.ts';
import { MOCHA } from './kit.ts';
import { MOCHA_HACKS } from './mocha-hacks.ts';
import { describeNotCaught } from './not-caught.ts';
import { notCaught, runningHacks } from './running.ts';

const { available, note } = await trySandbox();

describeHacks({
  name: `${MOCHA.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by mocha (${note})`,
  isHere: available,
  hacks: [...editHacks(MOCHA), ...runningHacks(MOCHA), ...MOCHA_HACKS],
  noSuch: {
    7: "nothing but a method of the product's own can equal everything, and that is not caught yet",
    10: 'mocha loads no plugin that nothing names',
    11: 'Node runs nothing at its start but what NODE_OPTIONS names, which is row 13',
  },
});

describeNotCaught(`${MOCHA.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by mocha`, [...notCaught(MOCHA)]);
