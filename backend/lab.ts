import './cli/require-node.ts';

/* Composition root of the laboratory: the gym and the making of conductor-mini. It is in no bundle. */

const COMMANDS: Readonly<Record<string, () => Promise<unknown>>> = {
  'mini': () => import('./lab/commands/train-mini.ts'),
  'gym-train': () => import('./lab/commands/gym-train.ts'),
  'gym-mean': () => import('./lab/commands/gym-mean.ts'),
  'gym-compare': () => import('./lab/commands/gym-compare.ts'),
  'gym-results': () => import('./lab/commands/gym-results.ts'),
  'gym-hands': () => import('./lab/commands/gym-hands.ts'),
  'gym-wants': () => import('./lab/commands/gym-wants.ts'),
};

// A command is a program of its own: it reads the arguments that are left.
const [name = ''] = process.argv.splice(2, 1);
const command = COMMANDS[name];
if (command) await command();
else {
  process.stderr.write(`usage: node with-node.mjs node backend/lab.ts ${Object.keys(COMMANDS).join('|')} [options]; --help lists the options of each\n`);
  process.exitCode = 2;
}
