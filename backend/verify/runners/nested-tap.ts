import { ReportError } from './test-report.ts';

/** A test point of a TAP report (version 14), with those of its subtest. */
export interface TapTest {
  readonly title: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly isSubtest: boolean;
  readonly below: readonly TapTest[];
  /** What its lines of diagnosis say. */
  readonly message: string | undefined;
}

const MAX_POINTS = 200_000;
const MAX_DEPTH = 50;
const INDENT = 4;
const POINT = /^(not ok|ok)\b(?: (\d{1,9}))?(?: -)?(?: (.*))?$/;
const DIRECTIVE = /\s*(?<!\\)#\s*(skip|todo)\S*(?:\s.*)?$/i;
/** node-tap's words for a test that was not begun, since one before it did not end. */
const NOT_BEGUN = /^child test left in queue: (?:t\.)?\w+ /;
const TIME = /\s*(?<!\\)# time=[\d.]+m?s$/;

interface Open {
  readonly points: (TapTest & { lines: string[] })[];
  plan: number | undefined;
}

/** The outer points. A subtest stands before its own point, four spaces deeper. Throws `ReportError`. */
export function parseNestedTap(text: string): readonly TapTest[] {
  const open: Open[] = [{ points: [], plan: undefined }];
  let count = 0;
  let hasEnd = false;
  /** The indentation of the lines of diagnosis, while they last. */
  let block: number | undefined;
  for (const line of text.split(/\r?\n/)) {
    const spaces = /^ */.exec(line)?.[0].length ?? 0;
    const said = line.slice(spaces);
    if (block !== undefined) {
      if (spaces === block && said === '...') block = undefined;
      else open.at(-1)?.points.at(-1)?.lines.push(line.slice(block));
      continue;
    }
    if (said === '---') {
      block = spaces;
      continue;
    }
    const depth = spaces / INDENT;
    if (!Number.isInteger(depth) || depth > MAX_DEPTH) continue;
    if (/^Bail out!/.test(said)) throw new ReportError(`The runner gave up: ${said.slice(0, 200)}`);
    // node-tap ends its own part with this, and without a plan.
    if (depth === 0 && said.startsWith('# time=')) hasEnd = true;
    const found = POINT.exec(said);
    const planned = /^1\.\.(\d{1,9})\b/.exec(said);
    if (!found && !planned && !said.startsWith('# Subtest')) continue;
    while (open.length <= depth) open.push({ points: [], plan: undefined });
    const at = open[depth];
    if (!at) continue;
    if (planned) at.plan = Number(planned[1]);
    if (!found) continue;
    if ((count += 1) > MAX_POINTS) throw new ReportError(`The TAP report has more than ${MAX_POINTS} tests.`);
    const [, ok, number, rest = ''] = found;
    if (number !== undefined && Number(number) !== at.points.length + 1) throw new ReportError('The numbers of the TAP report do not follow one another.');
    const below = open.splice(depth + 1);
    for (const { points, plan } of below.slice(0, 1)) checkPlan(points, plan);
    const title = rest.replace(TIME, '').replace(NOT_BEGUN, '');
    at.points.push(pointOf({
      title: title.replace(DIRECTIVE, '').replaceAll(/\\([#\\])/g, '$1').trim(),
      status: DIRECTIVE.test(title) ? 'skipped' : ok === 'ok' ? 'passed' : 'failed',
      isSubtest: below.length > 0,
      below: below[0]?.points ?? [],
    }));
  }
  const [outer] = open;
  if (!hasEnd || outer?.plan !== undefined) checkPlan(outer?.points ?? [], outer?.plan);
  return outer?.points ?? [];
}

function pointOf(point: Omit<TapTest, 'message'>): Open['points'][number] {
  const lines: string[] = [];
  return { ...point, lines, get message() { return lines.length === 0 ? undefined : lines.join('\n'); } };
}

/** Points beyond the plan have failed: node-tap does not plan tests that were not begun. */
function checkPlan(points: readonly TapTest[], plan: number | undefined): void {
  if (plan === undefined) throw new ReportError('The report ends before the tests did.');
  if (points.length < plan || points.slice(plan).some(({ status }) => status !== 'failed')) throw new ReportError('The TAP report has other tests than it says.');
}
