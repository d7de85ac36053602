/**
 * CONDUCTOR_HACKS=2/3 tries the second third of the hacks: `.ci/run` tries one sixth a day, in turn. Without it, or with `all`, every hack is
 * tried, and each is shown to fool who looks at the exit code alone, which says something of the hack and nothing of the judge.
 */
const { CONDUCTOR_HACKS: wanted = 'all' } = process.env;
const [, part, parts] = /^(\d+)\/(\d+)$/.exec(wanted) ?? [];
export const isWhole = part === undefined;
if (isWhole && wanted !== 'all') throw new Error(`CONDUCTOR_HACKS is "${wanted}": write all, or a part such as 2/3.`);

/** Takes turns: whether the next hack or twin is one of this part. */
export function turns(): () => boolean {
  let index = 0;
  return () => isWhole || index++ % Number(parts) === Number(part) - 1;
}
