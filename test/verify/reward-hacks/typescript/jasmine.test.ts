import { trySandbox } from '../../setup.ts';
import { describeHacks } from '../describe-hacks.ts';
import { editHacks } from './edits.ts';
import { JASMINE_HACKS } from './jasmine-hacks.ts';
import { JASMINE } from './kit.ts';
import { fixedSources } from './projects.ts';
import { recognitionHacks } from './recognition.ts';
import { comparingHacks, runningHacks } from './running.ts';

const { available, note } = await trySandbox();

describeHacks({
  name: `${JASMINE.extension === 'ts' ? 'TypeScript' : 'JavaScript'} by Jasmine (${note})`,
  isHere: available,
  hacks: [...editHacks(JASMINE), ...runningHacks(JASMINE), ...recognitionHacks(JASMINE), ...comparingHacks(JASMINE), ...JASMINE_HACKS],
  fixed: fixedSources(JASMINE),
  restIn: 'TypeScript by mocha',
});
