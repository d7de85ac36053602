import { nodesIn, partsOf } from '../syntax/nodes.ts';
import type { Node } from '../syntax/parse.ts';
import { isFunction } from './javascript-scopes.ts';

const FRUITLESS = /^(?:return_statement|break_statement|continue_statement)$/;

/** A statement that makes a test fail. */
export const isFailure = ({ type, text }: Node): boolean =>
  type === 'throw_statement' || /^(?:return\s+)?(?:(?:chai\.)?(?:t\.)?assert\.fail|t\.fail|expect\.(?:fail|unreachable)|fail|should\.fail)\(/.test(text);

/** `return done(err)`: a test fails by a callback that is given an error. */
const RETURNS_FAILURE = /^return\s+(?:_?(?:done|cb|callback|next|end|reject|finish)|t\.(?:fail|end|error)|(?:t\.)?assert\.fail)\(\s*[^\s)]/i;

/** Whether the statements after this one are left out by a failure alone. */
export function leavesOnlyByFailure(statement: Node): boolean {
  for (const node of nodesIn(statement, isFunction))
    if (FRUITLESS.test(node.type) && !(node.id !== statement.id && RETURNS_FAILURE.test(node.text) && isUnderError(node))) return false;
  return !/\b(?:process\.exit|\.skip|\.todo)\(/.test(statement.text);
}

/** `if (err) return done(err)`: under the condition that there is an error. */
function isUnderError(leave: Node): boolean {
  const block = leave.parent?.type === 'statement_block' ? leave.parent : leave;
  const branch = block.parent;
  return branch?.type === 'if_statement' && /^\(\s*\w*(?:err|error|e|ex)\s*\)$/i.test(branch.childForFieldName('condition')?.text ?? '');
}

export interface Reached {
  readonly block: Node;
  readonly end: number;
}

/**
 * The blocks that a test has come through when its callback is called, each up to its `end`. Empty if the callback is called in more places,
 * or handed on.
 */
export function whenDone(test: Node, done: string): readonly Reached[] {
  const body = test.childForFieldName('body');
  const uses = body ? [...nodesIn(body)].filter(({ type, text }) => type === 'identifier' && text === done) : [];
  const ends = uses.filter((use) => !isError(use));
  const [end] = ends;
  const call = end?.parent;
  if (!body || !end || ends.length > 1 || call?.type !== 'call_expression' || call.childForFieldName('function')?.id !== end.id) return [];
  if (partsOf(call.childForFieldName('arguments') ?? call).length > 0) return [];
  const blocks: Reached[] = [];
  for (let at: Node | null = call; at && at.id !== test.id; at = at.parent)
    if (at.type === 'statement_block' && at.parent && isFunction(at.parent)) blocks.push({ block: at, end: call.startIndex });
  return blocks;
}

/** `if (err) return done(err)`, `.catch(done)` and `.on('error', done)` end a test as failed. */
function isError(use: Node): boolean {
  const list = use.parent;
  if (list?.type === 'arguments') return /\.catch$/.test(list.parent?.childForFieldName('function')?.text ?? '') || /^\(\s*['"]error['"]/.test(list.text);
  const statement = list?.type === 'call_expression' ? list.parent : null;
  const hasArgument = list?.type === 'call_expression' && partsOf(list.childForFieldName('arguments') ?? list).length > 0;
  return hasArgument && statement !== null && isUnderError(statement);
}

const PLAN = /^(?:\w+\.plan|expect\.assertions)\((\d+)\)$/;
const ASSERTS = /^(?:\w+\.assert\.(?!fail\b|plan\b)\w+|t\.(?!fail\b|plan\b|end\b|test\b|comment\b|teardown\b|after\b|before\b|pass\b|log\b)\w+|expect)$/;
const BRANCHES = /^(?:if_statement|switch_statement|ternary_expression|for_statement|for_in_statement|while_statement|do_statement|try_statement)$/;

const isCounted = (node: Node): boolean => node.type === 'call_expression' && ASSERTS.test(node.childForFieldName('function')?.text ?? '');

/**
 * The statements of a test that says how many assertions it has, and has as many, each of them outside of branches. Each statement asserts
 * something in a way that cannot be lost: the code under test may swallow an error of a callback, so others follow that are counted, unless the
 * runner notes a failed assertion at once.
 */
export function countedAssertions(test: Node, { isNoted }: { readonly isNoted: boolean }): readonly Node[] {
  const body = test.childForFieldName('body');
  const plans = (body ? partsOf(body) : []).flatMap((statement) => PLAN.exec(statement.text.replace(/;$/, ''))?.[1] ?? []);
  const calls = body ? [...nodesIn(body)].filter(isCounted) : [];
  if (!body || plans.length !== 1 || calls.length !== Number(plans[0]) || calls.some((call) => isInBranch(call, body))) return [];
  return [...nodesIn(body)].filter((node) => node.type === 'expression_statement' && (isNoted || isFollowed(node)));
}

function isFollowed(statement: Node): boolean {
  const later = statement.parent ? partsOf(statement.parent).filter(({ startIndex }) => startIndex > statement.startIndex) : [];
  return later.some((next) => next.type === 'expression_statement' && partsOf(next).some((expression) => isCounted(callIn(expression))));
}

/** `t.ok(…)`, `await t.rejects(…)` and `expect(…).toBe(…)`: the call that is counted. */
function callIn(expression: Node): Node {
  let node = expression.type === 'await_expression' ? (partsOf(expression)[0] ?? expression) : expression;
  while (!isCounted(node)) {
    const called = node.type === 'call_expression' ? node.childForFieldName('function') : node;
    const object = called?.childForFieldName('object');
    if (!object) return node;
    node = object;
  }
  return node;
}

function isInBranch(node: Node, body: Node): boolean {
  for (let at = node.parent; at && at.id !== body.id; at = at.parent) if (BRANCHES.test(at.type)) return true;
  return false;
}
