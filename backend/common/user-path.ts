/**
 * The PATH of the person, in which programs of the project are searched. A launcher that puts its own tools before the person's states it
 * in CONDUCTOR_USER_PATH; otherwise it is PATH.
 */
export function userPath({ CONDUCTOR_USER_PATH: stated, PATH: own }: Readonly<Record<string, string | undefined>>): string {
  return stated || own || '';
}
