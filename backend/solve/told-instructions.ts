import { redactText } from '../common/secrets/secrets.ts';
import type { RunSnapshot } from '../protocol/run-snapshot.ts';

/** Those of agents are longer, and tell how to use tools that only the last step has. */
const MAX_CHARACTERS = 6_000;

/**
 * What a program that holds the conversation tells its models, in the place of a project's context: a chain puts there what the question is about, and
 * how it is to be answered. Nothing where it is an agent's. Lines that look like secrets are left out, as in the context.
 */
export function toldInstructions({ conversation }: Pick<RunSnapshot, 'conversation'>): string {
  const told = (conversation?.messages ?? []).flatMap(({ role, content }) => (role === 'system' && content.trim() !== '' ? [content.trim()] : [])).join('\n\n');
  return told === '' || told.length > MAX_CHARACTERS ? '' : `The program that asks has instructed whoever answers so:\n\n${redactText(told)}`;
}
