import type { Definition } from '../context/symbols/definition.ts';
import { redact } from '../common/secrets/secrets.ts';
import { unitsIn, unitsOf } from '../context/tokens.ts';
import type { GapPiece } from '../workers/model.ts';
import type { NearDefinition } from './near-definitions.ts';

/** One definition that is shown, with the class that it is a member of. */
interface Shown {
  readonly key: string;
  readonly path: string;
  readonly line: number;
  readonly signature: string;
  readonly container: Definition | undefined;
  readonly units: number;
  /** Definitions of one block stand under one path. */
  readonly block: number;
}

export type ContainerOf = (definition: Definition) => Definition | undefined;

/** How much likelier another definition must be to take the place of one that is shown. */
const MARGIN = 12;
/** Only signatures are shown; a longer one is cut. */
const MAX_SIGNATURE = 200;
const INDENT = '    ';

/**
 * The definitions that are shown with one file, as long as the person works there. What is shown stays, and what comes is appended, so that
 * the text stays the same from its beginning for as long as possible. One makes room only for one that is clearly likelier.
 */
export class DefinitionShelf {
  #shown: readonly Shown[] = [];
  #block = 0;

  /** @param wanted the likeliest first */
  update(wanted: readonly NearDefinition[], tokens: number, containerOf: ContainerOf): readonly GapPiece[] {
    const scores = new Map(wanted.map(({ definition, score }) => [keyOf(definition), score]));
    // What is no longer defined, or is now defined in another way, goes at once.
    let kept = this.#shown.filter(({ key }) => scores.has(key));
    const scoreOf = ({ key }: Shown): number => scores.get(key) ?? 0;
    const block = this.#block + 1;
    const blocks = new Map<string, number>(kept.map((one) => [one.path, one.block]));
    let left = unitsIn(tokens) - costOf(kept);
    const has = new Set(kept.map(({ key }) => key));
    const classes = new Set<string>();
    const added: Shown[] = [];
    const byScore = kept.toSorted((a, b) => scoreOf(b) - scoreOf(a));
    const dropWeakest = (): void => {
      const weakest = byScore.pop();
      kept = kept.filter((other) => other !== weakest);
      left = unitsIn(tokens) - costOf([...kept, ...added]);
    };
    // Other pieces may have taken some of the room.
    while (left < 0 && byScore.length > 0) dropWeakest();
    for (const { definition, score } of wanted) {
      // Without a look at the definition itself: most of thousands neither fit nor are likelier than what is shown.
      const weakestNow = byScore.at(-1);
      const mayReplace = weakestNow !== undefined && scoreOf(weakestNow) + MARGIN <= score;
      if (!mayReplace && left < SMALLEST) break;
      if (!mayReplace && leastUnits(definition) > left) continue;
      const one = shownOf(definition, { container: containerOf(definition), block });
      if (has.has(one.key)) continue;
      const classLine = one.container && `${one.path} ${one.container.line}`;
      const cost = one.units + (blocks.get(one.path) === block ? 0 : headOf(one.path))
        + (one.container && classLine !== undefined && !classes.has(classLine) ? unitsOf(`${signatureOf(one.container)}\n`) : 0);
      while (cost > left) {
        const weakest = byScore.at(-1);
        if (!weakest || scoreOf(weakest) + MARGIN > score) break;
        dropWeakest();
      }
      if (cost > left) continue;
      left -= cost;
      blocks.set(one.path, block);
      if (classLine !== undefined) classes.add(classLine);
      has.add(one.key);
      added.push(one);
    }
    if (added.length > 0) this.#block = block;
    this.#shown = [...kept, ...added];
    return piecesOf(this.#shown);
  }
}

/** Units of the shortest signature that is worth looking for. */
const SMALLEST = 30;

function leastUnits({ signature }: Definition): number {
  return Math.min(signature.length, MAX_SIGNATURE) * unitsOf('a');
}

function keyOf({ path, name, signature }: Definition): string {
  return [path, name, signature].join('\n');
}

/** Looked through for secrets once. */
const clean = new WeakMap<Definition, string>();

function signatureOf(definition: Definition): string {
  const known = clean.get(definition);
  if (known !== undefined) return known;
  const signature = (redact([definition.signature]).lines[0] ?? '').slice(0, MAX_SIGNATURE);
  clean.set(definition, signature);
  return signature;
}

function shownOf(definition: Definition, { container, block }: { container: Definition | undefined; block: number }): Shown {
  const signature = signatureOf(definition);
  return {
    key: keyOf(definition), path: definition.path, line: definition.line, signature, container, block,
    units: unitsOf(`${container ? INDENT : ''}${signature}\n`),
  };
}

/** The path and the marks around a file. */
function headOf(path: string): number {
  return unitsOf(path) + 30;
}

function costOf(shown: readonly Shown[]): number {
  return piecesOf(shown).reduce((sum, { path, text }) => sum + headOf(path) + unitsOf(text), 0);
}

function piecesOf(shown: readonly Shown[]): GapPiece[] {
  const blocks = Map.groupBy(shown, ({ block, path }) => `${block} ${path}`);
  return [...blocks.values()].map((members) => ({ path: members[0]?.path ?? '', text: textOf(members) }));
}

/** The signatures in the order of the file, members under their class. */
function textOf(members: readonly Shown[]): string {
  const lines: string[] = [];
  const named = new Set(members.map(({ line }) => line));
  const introduced = new Set<number>();
  for (const { signature, container } of members.toSorted((a, b) => a.line - b.line)) {
    if (container && !named.has(container.line) && !introduced.has(container.line)) {
      introduced.add(container.line);
      lines.push(signatureOf(container));
    }
    lines.push(container ? INDENT + signature : signature);
  }
  return lines.join('\n');
}
