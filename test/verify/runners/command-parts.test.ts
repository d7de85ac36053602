import { expect, it } from 'vitest';
import { commandParts } from '../../../backend/verify/runners/command-parts.ts';

it.each([
  'if [ -d cache ]; then export GOCACHE=cache; fi; go test ./...',
  'for folder in a b; do (cd $folder && go test ./...); done',
  '{ go vet ./...; go test ./...; }',
])('leaves a line with statements of the shell as it is: %s', (command) => {
  expect(commandParts(command, (part) => part.includes('go test'), true)).toMatchObject({ tests: command, checks: [] });
});
