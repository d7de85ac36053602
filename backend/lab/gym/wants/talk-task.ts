import type { MakeTask } from './made-of.ts';

/** What people say besides questions. */
const SAID = {
  train: ['thanks, that works', 'thank you!', 'hi', 'hello', 'great, thanks a lot', 'ok', 'danke', 'merci', 'gracias', 'nice work', 'never mind', 'cool', 'good morning', 'obrigado', '谢谢', 'спасибо'],
  'held-out': ['thx', 'perfect, that was it', 'hey there', 'alright', 'grazie', 'bedankt', 'ありがとう', 'you are a great help'],
} as const;

const ENDINGS = ['', '!', '!!', '.', ' :)', ' 👍'] as const;

const REPLIES = ['You are welcome.', 'Glad to help. Ask whenever something else comes up.', 'Hello! What can I do for you?', 'All right. I am here when you need something.'] as const;

/** Small talk wants one short reply. */
export const talkTask: MakeTask = (exercise, random) => ({
  ...exercise,
  question: `${random.pick('said', SAID[exercise.split]).replace(/!$/, '')}${random.pick('ending', ENDINGS)}`,
  form: 'words',
  source: random.pick('reply', REPLIES),
  approach: 'A short reply is enough.',
  // A worker without any skill answers as if something had been asked.
  wrong: [{ idea: 'A message is a task.', source: `I take this for a task.\n\nIt concerns \`${exercise.functionName}\`, I suppose.`, subtlety: 0.2 }],
  judge: { by: 'reply' },
});
