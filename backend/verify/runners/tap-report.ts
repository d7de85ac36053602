import { redactText } from '../../common/secrets/secrets.ts';
import { ReportError } from './test-report.ts';

/** A test point of a TAP report. */
export interface TapPoint {
  readonly status: 'passed' | 'failed' | 'skipped';
  readonly title: string;
  /** What the lines below it say, as it stands there. */
  readonly message: string | undefined;
}

const MAX_POINTS = 200_000;
const POINT = /^(not ok|ok)\b(?: (\d{1,9}))?(?: -)?(?: (.*))?$/;
const DIRECTIVE = /\s*(?<!\\)#\s*(skip|todo)\S*(?:\s.*)?$/i;

/**
 * Reads the outer points of a TAP report (version 13 or 14), in order. Their numbers have to follow one another, and there has to be one
 * plan, which says no more points than there are. Points beyond it have failed: some runners do not count what crashed. Throws `ReportError`.
 */
export function parseTap(text: string): readonly TapPoint[] {
  const points: { status: TapPoint['status']; title: string; lines: string[] }[] = [];
  let plan: number | undefined;
  let isBlock = false;
  for (const line of text.split(/\r?\n/)) {
    if (isBlock || /^\s+---\s*$/.test(line)) {
      // What a test says may look like a point.
      isBlock = !/^\s+\.\.\.\s*$/.test(line);
      if (isBlock && !/^\s+---\s*$/.test(line)) points.at(-1)?.lines.push(line.trim());
      continue;
    }
    if (/^Bail out!/.test(line)) throw new ReportError(`The runner gave up: ${redactText(line.slice(0, 8_000)).slice(0, 200)}`);
    const planned = /^1\.\.(\d{1,9})\b/.exec(line);
    if (planned) {
      if (plan !== undefined) throw new ReportError('The TAP report has two plans.');
      plan = Number(planned[1]);
    }
    const found = POINT.exec(line);
    if (!found) continue;
    const [, ok, number, rest = ''] = found;
    if (points.length >= MAX_POINTS) throw new ReportError(`The TAP report has more than ${MAX_POINTS} tests.`);
    if (number !== undefined && Number(number) !== points.length + 1) throw new ReportError('The numbers of the TAP report do not follow one another.');
    const isSkipped = DIRECTIVE.test(rest);
    const title = rest.replace(DIRECTIVE, '').replaceAll(/\\([#\\])/g, '$1').trim();
    points.push({ status: isSkipped ? 'skipped' : ok === 'ok' ? 'passed' : 'failed', title, lines: [] });
  }
  if (plan === undefined) throw new ReportError('The report ends before the tests did.');
  const beyond = points.length - plan;
  if (beyond < 0 || beyond > points.filter(({ status }) => status === 'failed').length)
    throw new ReportError('The TAP report has other tests than it says.');
  return points.map(({ lines, ...point }) => ({ ...point, message: lines.length > 0 ? lines.join('\n') : undefined }));
}
