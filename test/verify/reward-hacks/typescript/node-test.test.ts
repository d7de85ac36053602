import { describeHacks } from '../hacks.ts';
import { trySandbox } from '../../setup.ts';
import { editHacks } from './edits.ts';
import { NODE_TEST } from './kit.ts';
import { NODE_TEST_HACKS, NODE_TEST_NOT_CAUGHT } from './node-test-hacks.ts';
import { describeNotCaught } from './not-caught.ts';
import { notCaught, runningHacks } from './running.ts';

const { available, note } = await trySandbox();

describeHacks({
  name: `${NODE_TEST.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by node --test (${note})`,
  isHere: available,
  hacks: [...editHacks(NODE_TEST), ...runningHacks(NODE_TEST), ...NODE_TEST_HACKS],
  noSuch: {
    22: 'a callback that is swallowed is not caught yet',
    7: "nothing but a method of the product's own can equal everything, and that is not caught yet",
    10: "Node's runner has no plugins",
    11: 'Node runs nothing at its start but what NODE_OPTIONS names, which is row 13',
  },
});

describeNotCaught(`${NODE_TEST.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by node --test`, [...notCaught(NODE_TEST), ...NODE_TEST_NOT_CAUGHT]);
