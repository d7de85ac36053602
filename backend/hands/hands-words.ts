import { HANDS_LIMITS } from './limits.ts';

const COMMON =
  'You have hands: you work in a private copy of the project and may look, change files and run commands there before you answer. It is a ' +
  'sandbox without network and without secrets; nobody answers a program that asks for input. Your changes in the copy are your work: they ' +
  'are handed on as a diff with your last message, so do not repeat whole files in it. ';

/** How a worker with fenced commands uses its hands. */
const FENCED = `${COMMON}Write one command a message, as a fenced block, and nothing behind it; you are then given its result. The commands:

\`\`\`read src/shapes.js 1-80
\`\`\`
\`\`\`search src
area\\(
\`\`\`
\`\`\`edit src/shapes.js
<<<<<<< SEARCH
  return width + height;
=======
  return width * height;
>>>>>>> REPLACE
\`\`\`
\`\`\`create src/circle.js
export const area = (r) => Math.PI * r * r;
\`\`\`
\`\`\`delete src/old.js
\`\`\`
\`\`\`run
node -e "console.log(1)"
\`\`\`
\`\`\`test
\`\`\`
"search" takes a regular expression, and behind the word a folder or file if you want one only. The text of SEARCH must stand in the file exactly once. ` +
`"test" runs the project's tests on your changes. A message without a command is your last one: say in it in a few words what you did and found.`;

const NATIVE =
  `${COMMON}Use the tools. "test" runs the project's tests on your changes. A message without a tool call is your last one: say in it in a few words ` +
  'what you did and found.';

/** For an agent, whose tools are its own. */
const AGENT =
  'You work in a private copy of the project, which is your current folder, with the tools that you have. Commands run in a sandbox: they reach no ' +
  'network but your own provider, and nothing outside of the folder. Nobody answers questions, so decide yourself. What differs in the folder when ' +
  'you end is your work: it is handed on as a diff with your last message, so do not repeat whole files in it. Do not commit. Say in your last ' +
  'message in a few words what you did and found.';

/** How a worker uses its hands: `own` is an agent. */
export type Hands = 'tools' | 'fenced' | 'own';

export const handsWords = (hands: Hands): string => hands === 'own' ? AGENT :
  `${hands === 'fenced' ? FENCED : NATIVE} You have at most ${HANDS_LIMITS.turns} messages.`;

/** Put behind the last result that a step is given. */
export const lastMessage = (why: string): string =>
  `${why} No more commands are done. Write your last message now: what you did, what you found, and what is still open.`;
