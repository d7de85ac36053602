import { realpath } from 'node:fs/promises';
import type { EditSummary } from '../../protocol/edit-summary.ts';
import { whyItChangesTests } from '../../verify/patch/added-tests.ts';
import { isPathOfTest, protectedReason } from '../../verify/files/protected-paths.ts';
import { readTextFile } from '../../verify/files/text-file.ts';
import { checkWorkspacePath, refusalOnDisk } from '../../verify/files/workspace-path.ts';
import type { FileEdit } from '../../verify/patch/patch.ts';
import { isCutDiff } from '../checker.ts';
import { changedBy, type FilePatch, patchOf, reversed, takenBack, takenBackAnywhere, withEnds } from './file-patch.ts';

/** The diffs of an answer on the files of a folder as they are now. */
export interface PlacedChange {
  /** What is not in the files yet. */
  readonly edits: readonly FileEdit[];
  /** Files that have the change already. */
  readonly there: readonly string[];
  /** Files that the diff does not fit, with the reason in one sentence. */
  readonly lost: readonly { readonly path: string; readonly reason: string }[];
}

/**
 * Places the diffs of an earlier answer on a folder (absolute). Lines may have moved since, but what a diff shows must be as it was. A file in
 * which the diff can be taken back, and not be made, has the change already.
 * @param before diffs of a change that the summaries hold as well. A file that has that change alone gets the rest.
 */
export async function placeChange(summaries: readonly EditSummary[], folder: string, before: readonly EditSummary[] = []): Promise<PlacedChange> {
  const base = await realpath(folder);
  return sorted(await Promise.all(summaries.map(async (summary) => await checked(await placeEdit(summary, base, { before: before.find(({ path }) => path === summary.path) })))));
}

/**
 * What takes the diffs of an answer back from a folder (absolute), by the same rules; but the lines around them may have changed. `there`: files that
 * are without them already.
 */
export async function takeBackChange(summaries: readonly EditSummary[], folder: string): Promise<PlacedChange> {
  const base = await realpath(folder);
  return sorted(await Promise.all(summaries.map(async (summary) => {
    const back = isCutDiff(summary.diff) ? undefined : reversed(summary);
    return back ? await placeEdit(back, base, { anywhere: patchOf(summary.kind, summary.diff) }) : { path: summary.path, reason: NOT_WHOLE };
  })));
}

function sorted(placed: readonly Placed[]): PlacedChange {
  return {
    edits: placed.flatMap((one) => ('edit' in one ? [one.edit] : [])),
    there: placed.flatMap((one) => ('there' in one ? [one.there] : [])),
    lost: placed.flatMap((one) => ('reason' in one ? [one] : [])),
  };
}

const NOT_WHOLE = 'Its diff is too long to be kept whole.';

type Placed = { readonly edit: FileEdit } | { readonly there: string } | { readonly path: string; readonly reason: string };

/** An answer to a question that asked for tests has added some, and does so still. */
async function checked(placed: Placed): Promise<Placed> {
  if (!('edit' in placed) || !isPathOfTest(placed.edit.path)) return placed;
  const reason = await whyItChangesTests(placed.edit);
  return reason === undefined ? placed : { path: placed.edit.path, reason };
}

interface OtherPlaces {
  /** See `placeChange`. */
  readonly before?: EditSummary | undefined;
  /** What is taken back wherever its lines stand. */
  readonly anywhere?: FilePatch | undefined;
}

async function placeEdit({ path: written, kind, diff }: EditSummary, base: string, { before, anywhere }: OtherPlaces): Promise<Placed> {
  const lost = (reason: string): Placed => ({ path: written, reason });
  const place = checkWorkspacePath(written);
  if (place.refused !== undefined) return lost(place.refused);
  const { path } = place;
  const refusal = (isPathOfTest(path) ? undefined : protectedReason(path)) ?? (await refusalOnDisk(base, path));
  if (refusal !== undefined) return lost(refusal);
  const found = await readTextFile(base, path);
  if (found.kind === 'refused') return lost(found.reason);
  const now = found.kind === 'text' ? found.text : null;
  const loose = isCutDiff(diff) ? undefined : patchOf(kind, diff);
  if (!loose) return lost(NOT_WHOLE);
  const exact = withEnds(loose);
  const made = changedBy(exact, now);
  if (made !== undefined) return { edit: editOf(path, now, made) };
  if (takenBack(exact, now) !== undefined) return { there: path };
  const first = before && patchOf(before.kind, before.diff);
  const original = first && takenBack(withEnds(first), now);
  const whole = original === undefined ? undefined : changedBy(loose, original);
  if (whole !== undefined) return { edit: editOf(path, now, whole) };
  // Something was added before or behind it. What fits in both directions is not told apart.
  const [looselyMade, looselyThere] = [changedBy(loose, now), takenBack(loose, now) !== undefined];
  if (looselyMade !== undefined && !looselyThere) return { edit: editOf(path, now, looselyMade) };
  if (looselyMade === undefined && looselyThere) return { there: path };
  const back = anywhere && !looselyThere ? takenBackAnywhere(anywhere, now) : undefined;
  if (back !== undefined) return { edit: editOf(path, now, back) };
  return lost(now === null ? 'The file is gone.' : kind === 'create' ? 'There is another file of this name now.' : 'The file was changed since.');
}

const editOf = (path: string, before: string | null, after: string | null): FileEdit =>
  ({ path, kind: before === null ? 'create' : after === null ? 'delete' : 'modify', before, after });
