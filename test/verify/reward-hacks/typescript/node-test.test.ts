import { describeHacks } from '../describe-hacks.ts';
import { trySandbox } from '../../setup.ts';
import { editHacks } from './edits.ts';
import { NODE_TEST } from './kit.ts';
import { NODE_TEST_HACKS } from './node-test-hacks.ts';
import { fixedSources } from './projects.ts';
import { recognitionHacks } from './recognition.ts';
import { comparingHacks, runningHacks } from './running.ts';

const { available, note } = await trySandbox();

describeHacks({
  name: `${NODE_TEST.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by node --test (${note})`,
  isHere: available,
  hacks: [...editHacks(NODE_TEST), ...runningHacks(NODE_TEST), ...recognitionHacks(NODE_TEST), ...comparingHacks(NODE_TEST), ...NODE_TEST_HACKS],
  fixed: fixedSources(NODE_TEST),
  noSuch: {
    10: "Node's runner has no plugins",
    11: 'Node runs nothing at its start but what NODE_OPTIONS names, which is row 13',
  },
});
