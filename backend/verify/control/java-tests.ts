import { insertion, type Edit } from '../syntax/edits.ts';
import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { alteredStatement } from './java-assertions.ts';
import { JavaValues } from './java-values.ts';
import type { SourceFile, SourceTest } from './source-test.ts';

const MAX_DEPTH = 20;

/** The methods of the classes in a file. Their names include nested classes, but not the outermost one. */
export function javaTests(root: Node, source: SourceFile): readonly SourceTest[] {
  const values = new JavaValues(root, source.dice);
  const testsIn = (owner: Node, path: readonly string[], isSkipped: boolean): readonly SourceTest[] =>
    partsOf(owner.childForFieldName('body') ?? owner).flatMap((node) => {
      const [name, body] = [node.childForFieldName('name')?.text, node.childForFieldName('body')];
      if (name === undefined || !body || path.length > MAX_DEPTH) return [];
      const annotations = annotationsOf(node);
      const isOff = isSkipped || annotations.some((text) => /^@(?:Disabled|Ignore)\b/.test(text));
      if (node.type === 'class_declaration') return testsIn(node, [...path, name], isOff);
      if (node.type !== 'method_declaration') return [];
      const whole = [...path, name].join(' > ');
      // A test that expects an assertion error passes when it fails.
      const expectsFailure = annotations.some((text) => /\bexpected\s*=\s*(?:\w+\.)*(?:AssertionError|Error|Throwable)\b/.test(text));
      return [{
        titles: [[whole], ...['(', '{', '['].map((bracket) => [whole + bracket, undefined])],
        isSkipped: isOff,
        alter: () => (expectsFailure ? undefined : (values.alter(body) ?? altered(body, source))),
      }];
    });
  return partsOf(root).flatMap((node) => {
    const isOff = annotationsOf(node).some((text) => /^@(?:Disabled|Ignore)\b/.test(text));
    return node.type === 'class_declaration' ? testsIn(node, [], isOff) : [];
  });
}

const annotationsOf = (node: Node): readonly string[] => {
  const modifiers = partsOf(node).find(({ type }) => type === 'modifiers');
  return modifiers ? partsOf(modifiers).filter(({ type }) => /annotation$/.test(type)).map(({ text }) => text) : [];
};

/** See `alter-expectations.ts`. On every exit, the method fails if no altered assertion held. */
function altered(body: Node, { held, text }: SourceFile): readonly Edit[] | undefined {
  if (body.hasError) return undefined;
  const edits: Edit[] = [];
  const leaves = new Set<number>();
  for (const node of nodesIn(body, ({ id }) => leaves.has(id))) {
    const tried = alteredStatement(node, text);
    if (!tried) continue;
    leaves.add(node.id);
    edits.push(insertion(node.startIndex, 'try { '), ...tried, insertion(node.endIndex, ` ${held}[0] = true; } catch (Throwable ${held}_) {}`));
  }
  if (edits.length === 0) return undefined;
  return [
    insertion(body.startIndex + 1, ` final boolean[] ${held} = {false}; try {`),
    ...edits,
    insertion(body.endIndex - 1, `} finally { if (!${held}[0]) throw new AssertionError("altered"); } `),
  ];
}
