import type { PlacedStep } from './graph-layout.ts';

const DIRECTIONS: ReadonlyMap<string, readonly [number, number]> = new Map([
  ['ArrowLeft', [-1, 0]], ['ArrowRight', [1, 0]], ['ArrowUp', [0, -1]], ['ArrowDown', [0, 1]],
]);

/** The step that a key moves to: the nearest one in its direction, the first or the last; undefined for other keys. */
export function stepByKey(key: string, from: number, steps: readonly PlacedStep[]): number | undefined {
  const ordered = steps.toSorted((a, b) => a.step - b.step);
  if (key === 'Home') return ordered[0]?.step;
  if (key === 'End') return ordered.at(-1)?.step;
  const here = steps.find(({ step }) => step === from);
  if (!here) return undefined;
  const [across, down] = DIRECTIONS.get(key) ?? [0, 0];
  if (across === 0 && down === 0) return undefined;
  const candidates = steps.flatMap((other) => {
    const [dx, dy] = [other.left - here.left, other.top - here.top];
    // Up and down stay in the layer; left and right move to the next layer in that direction, regardless of height.
    const ahead = across === 0 ? (dx === 0 ? dy * down : 0) : dx * across;
    return ahead > 0 ? [{ step: other.step, distance: ahead * 1_000 + Math.abs(across === 0 ? dx : dy) }] : [];
  });
  return candidates.toSorted((a, b) => a.distance - b.distance)[0]?.step;
}
