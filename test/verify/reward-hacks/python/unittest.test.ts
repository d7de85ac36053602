import { trySandbox } from '../../setup.ts';
import { tryProgram } from '../../runners/setup.ts';
import { describeHacks } from '../describe-hacks.ts';
import { UNITTEST_HACKS } from './unittest-hacks.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '--version');

describeHacks({
  name: `unittest (${note}, ${python.note})`,
  isHere: available && python.isHere,
  hacks: UNITTEST_HACKS,
  restIn: 'pytest',
});
