import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import ts from 'typescript';

/*
 * What the sources say to people, found in their syntax trees.
 */

const root = path.resolve(import.meta.dirname, '../..');

/** All TypeScript of a room, by path. */
export async function parseRoom(room: string): Promise<readonly ts.SourceFile[]> {
  const files = (await readdir(path.join(root, room), { recursive: true })).filter((file) => /\.tsx?$/.test(file)).sort();
  return Promise.all(files.map(async (file) => {
    const name = path.posix.join(room, file);
    return ts.createSourceFile(name, await readFile(path.join(root, name), 'utf8'), ts.ScriptTarget.Latest, true);
  }));
}

/** The first arguments of all calls of `l10n.t`: the text, or undefined where it is computed and nobody could translate it. */
export function textsIn(source: ts.SourceFile): readonly (string | undefined)[] {
  return nodesOf(source).filter(isTranslation).map(({ arguments: [text] }) => text && ts.isStringLiteralLike(text) ? text.text : undefined);
}

/** Texts for people that no translation reaches, as `file:line text`: those outside `l10n.t`, and those said before the language is known. */
export function untranslatedIn(source: ts.SourceFile): readonly string[] {
  const at = (node: ts.Node): string => {
    const { line } = source.getLineAndCharacterOfPosition(node.getStart());
    return `${source.fileName}:${line + 1} ${node.getText().trim().replace(/\s+/g, ' ')}`;
  };
  return nodesOf(source).flatMap((node) => {
    if (isTranslation(node)) return isInFunction(node) ? [] : [`${at(node)} (before the language is known)`];
    return isUntranslated(node) ? [at(node)] : [];
  });
}

const LETTER = /\p{L}/u;
/** Two words, or one with a capital at its beginning alone: what a key, a class or the name of an event does not look like. */
const PROSE = /^\P{L}*\p{Lu}\p{Ll}+(?!\p{L})|\p{L}{2,} +\p{L}/u;
/** Properties and attributes that hold words, however short. */
const WORDS = new Set(['alt', 'aria-label', 'label', 'meaning', 'placeholder', 'text', 'title', 'words']);

function isUntranslated(node: ts.Node): boolean {
  const text = ts.isJsxText(node) ? node.text : literalText(node);
  if (text === undefined || !LETTER.test(text) || isForPrograms(node)) return false;
  return ts.isJsxText(node) || PROSE.test(text) || isShown(node);
}

/** The text of a string or template, with a figure for each placeholder and without the tags of HTML. */
function literalText(node: ts.Node): string | undefined {
  if (ts.isStringLiteralLike(node)) return withoutTags(node.text);
  if (!ts.isTemplateExpression(node)) return undefined;
  return withoutTags([node.head, ...node.templateSpans.map(({ literal }) => literal)].map(({ text }) => text).join('0'));
}

function withoutTags(html: string): string {
  return html.replace(/<[^>]*>/g, '');
}

/** Whether the text is code, a key, a class, a type, one side of a comparison, or what a developer reads of a broken page. */
function isForPrograms(node: ts.Node): boolean {
  return ancestorsOf(node).some((ancestor) =>
    isTranslation(ancestor) || ts.isThrowStatement(ancestor) || ts.isImportDeclaration(ancestor) || ts.isTypeNode(ancestor) || ts.isCaseClause(ancestor)
    || (ts.isJsxElement(ancestor) && ancestor.openingElement.tagName.getText() === 'code')
    || (ts.isJsxAttribute(ancestor) && ['class', 'd', 'id', 'key', 'viewBox'].includes(ancestor.name.getText())))
    || isCompared(node) || (ts.isPropertyAssignment(node.parent) && node.parent.name === node);
}

function isCompared({ parent }: ts.Node): boolean {
  return ts.isBinaryExpression(parent) && [ts.SyntaxKind.EqualsEqualsEqualsToken, ts.SyntaxKind.ExclamationEqualsEqualsToken].includes(parent.operatorToken.kind);
}

/** Whether the text is what an element holds, or a property for words, possibly after a choice. */
function isShown(node: ts.Node): boolean {
  let holder = node.parent;
  while (ts.isConditionalExpression(holder) || ts.isBinaryExpression(holder) || ts.isParenthesizedExpression(holder)) holder = holder.parent;
  if (ts.isJsxExpression(holder)) return !ts.isJsxAttribute(holder.parent) || WORDS.has(holder.parent.name.getText());
  if (ts.isJsxAttribute(holder) || ts.isPropertyAssignment(holder)) return WORDS.has(holder.name.getText());
  return false;
}

type Call = ts.CallExpression & { readonly expression: ts.PropertyAccessExpression };

function isTranslation(node: ts.Node): node is Call {
  if (!ts.isCallExpression(node)) return false;
  const called = node.expression.getText();
  return called === 'l10n.t' || called === 'vscode.l10n.t';
}

function isInFunction(node: ts.Node): boolean {
  return ancestorsOf(node).some((ancestor) => ts.isFunctionLike(ancestor));
}

function ancestorsOf(node: ts.Node): readonly ts.Node[] {
  return node.parent && !ts.isSourceFile(node.parent) ? [node.parent, ...ancestorsOf(node.parent)] : [];
}

function nodesOf(root: ts.Node): readonly ts.Node[] {
  const nodes: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    nodes.push(node);
    node.forEachChild(visit);
  };
  root.forEachChild(visit);
  return nodes;
}
