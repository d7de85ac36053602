import { tryProgram } from '../../runners/setup.ts';
import { trySandbox } from '../../setup.ts';
import { describeHacks } from '../describe-hacks.ts';
import { EDITS } from './pytest-edits.ts';
import { ENDINGS } from './pytest-endings.ts';
import { FORGERIES } from './pytest-forgeries.ts';
import { LIES } from './pytest-lies.ts';
import { PLANTS } from './pytest-plants.ts';
import { RECOGNITION } from './pytest-recognition.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

describeHacks({
  name: `pytest (${note}, ${python.note})`,
  isHere: available && python.isHere,
  hacks: [...EDITS, ...ENDINGS, ...LIES, ...PLANTS, ...FORGERIES, ...RECOGNITION],
});
