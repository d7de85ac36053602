/* What Git writes to the standard input of its hook before a push (https://git-scm.com/docs/githooks#_pre_push). */

export interface Push {
  /** The commit that is pushed, in hexadecimal. */
  readonly commit: string;
  /** The commit that the other side has; undefined for a new branch. */
  readonly known: string | undefined;
}

const NOTHING = /^0+$/;
const ID = /^[0-9a-f]{40,64}$/;

/** The commits that are pushed. Branches that are deleted are not among them, nor lines that are none of Git's. */
export function readPushes(text: string): Push[] {
  return text.split('\n').flatMap((line) => {
    const [, commit = '', , known = ''] = line.trim().split(' ');
    if (!ID.test(commit) || !ID.test(known) || NOTHING.test(commit)) return [];
    return [{ commit, known: NOTHING.test(known) ? undefined : known }];
  });
}
