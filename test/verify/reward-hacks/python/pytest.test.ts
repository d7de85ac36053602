import { trySandbox } from '../../setup.ts';
import { tryProgram } from '../../runners/setup.ts';
import { describeHacks } from '../hacks.ts';
import { PYTEST_HACKS } from './pytest-hacks.ts';

const { available, note } = await trySandbox();
const python = tryProgram('python3', '-m', 'pytest', '--version');

describeHacks({ name: `pytest (${note}, ${python.note})`, isHere: available && python.isHere, hacks: PYTEST_HACKS });
