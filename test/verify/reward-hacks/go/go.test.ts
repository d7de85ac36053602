import { execFileSync } from 'node:child_process';
import { makeScratch, trySandbox } from '../../setup.ts';
import { tryProgram } from '../../runners/setup.ts';
import { describeHacks } from '../describe-hacks.ts';
import { GO_HACKS } from './go-hacks.ts';
import { FIXED, LIST } from './projects.ts';

const { available, note } = await trySandbox();
const go = tryProgram('go', 'version');

if (available && go.isHere) {
  // As on a machine where somebody works with go: without it each run compiles the standard library.
  await using scratch = await makeScratch();
  execFileSync('go', ['test', '-run', '^$', './...'], { cwd: await scratch.project(LIST), stdio: 'ignore' });
}

describeHacks({
  name: `Go (${note}, ${go.note})`,
  isHere: available && go.isHere,
  hacks: GO_HACKS,
  fixed: FIXED,
  noSuch: {
    9: 'go test has no hooks: its stream of events is row 21',
    10: 'go test has no plugins',
    11: 'a program in Go is all that starts',
    13: 'go takes its variables from no file of the project',
    14: 'go starts no program of the project but the tests',
    16: 'go keeps what it has compiled outside the project',
  },
});
