import { createHash } from 'node:crypto';
import { XMLValidator } from 'fast-xml-parser';
import { describe, expect, it } from 'vitest';
import { costPlotFile } from '../../../backend/eval/result-files/page/cost-plot-file.ts';
import { resultsPage } from '../../../backend/eval/result-files/page/page.ts';
import { costPlot } from '../../../backend/protocol/cost-plot.ts';
import { percent } from '../../../backend/protocol/figures.ts';
import { html } from '../../../backend/protocol/markup.ts';
import { finished, sampleOf } from './finished.ts';

const HOSTILE = '</pre></details></style><script>alert(1)</script><img src=x onerror="alert(1)">\'&amp;';
/** All tags of a page, as they are written. */
const tagsOf = (page: string): string[] => page.match(/<[^>]*>/g) ?? [];

describe('the page of results', () => {
  it('shows what models, files and names say as text', () => {
    const page = resultsPage(finished({
      samples: [sampleOf({
        contestant: HOSTILE, task: HOSTILE, reason: HOSTILE, answer: `${HOSTILE}!`,
        traces: [[{ worker: HOSTILE, subtask: HOSTILE, reads: [], output: HOSTILE, served: false }]],
      })],
      tasks: new Map([[HOSTILE, { question: HOSTILE }]]),
    }));
    const tags = tagsOf(page);
    expect(tags.filter((tag) => /^<(script|img|iframe|object|link|base|form|a)\b/i.test(tag))).toEqual([]);
    expect(tags.filter((tag) => /\s(on\w+|style|src|href)\s*=/i.test(tag))).toEqual([]);
    expect(page.match(/&lt;script&gt;alert\(1\)&lt;\/script&gt;/g)?.length).toBeGreaterThanOrEqual(9);
    expect(page).toContain('&amp;amp;');
    expect(page).not.toMatch(/https?:/);
  });

  it('allows its own style and nothing else', () => {
    const page = resultsPage(finished());
    const style = /<style>([^]*?)<\/style>/.exec(page)?.[1] ?? '';
    const hash = createHash('sha256').update(style).digest('base64');
    expect(page).toContain(`content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`);
    expect(page.indexOf('Content-Security-Policy')).toBeLessThan(page.indexOf('<style>'));
    expect(style).toContain('prefers-color-scheme:dark');
  });

  it('opens each sample down to the plan and what each worker said', () => {
    const page = resultsPage(finished());
    expect(page.match(/<details class="sample /g)).toHaveLength(12);
    expect(page).toContain('<pre tabindex="0">Which one?</pre>');
    expect(page).toMatch(/Step 2: two <span class="faint">reads the question and 1<\/span><\/h4><pre tabindex="0">Write it\.<\/pre><pre tabindex="0">Answer: C<\/pre>/);
    expect(page).toContain('asked before, paid once');
    // The answer is said once where it is the last step's.
    expect(page.match(/<pre tabindex="0">Answer: C<\/pre>/g)).toHaveLength(2);
  });

  it('filters by contestant and by wrong answers without a script', () => {
    const page = resultsPage(finished());
    expect(page).toContain('body:has(#of option[value="c1"]:checked) :is(.sample:not(.c1),.task:not(.t1)){display:none}');
    // All are right on the third task; only the first contestant is ever wrong on the first one, and only the second on the second.
    expect([...page.matchAll(/<details class="(task[^"]*)">/g)].map(([, names]) => names)).toEqual(['task t0 t1 w0', 'task t0 t1 w1', 'task right t0 t1']);
  });

  it('says that workers are simulated, and not so of real ones', () => {
    expect(resultsPage(finished({ simulated: true }))).toContain('This shows nothing about real models.');
    expect(resultsPage(finished())).not.toContain('This shows nothing about real models.');
  });

  it('gives each text its share where all together would be too much for a page', () => {
    const long = 'x'.repeat(30_000);
    const samples = Array.from({ length: 2_000 }, (_, task) => sampleOf({ contestant: 'one alone', task: `task ${task}`, traces: [[{ worker: 'one', subtask: long, reads: [], output: long, served: false }]] }));
    const page = resultsPage(finished({ samples, tasks: new Map() }));
    expect(page.match(/<details class="sample /g)).toHaveLength(2_000);
    expect(page.length).toBeLessThan(60_000_000);
    expect(page).toContain('x…</pre>');
  });
});

describe('the plot of score against cost', () => {
  const row = (name: string, right: number, costUsd: number, isOnFrontier = false): Parameters<typeof costPlot>[0][number] =>
    ({ name, right: { mean: right, low: right - 0.1, high: right + 0.1 }, costUsd, isOnFrontier });
  const centres = (svg: string): number[][] => [...svg.matchAll(/<circle class="point(?: best)?" cx="([\d.]+)" cy="([\d.]+)"/g)].map(([, x, y]) => [Number(x), Number(y)]);

  it('places by the logarithm of the cost and by the share, with the interval', () => {
    const svg = costPlot([row('a', 0.3, 0.001, true), row('b', 0.5, 0.01, true), row('c', 0.4, 0.1)]).source;
    const [a, b, c] = centres(svg);
    expect((b?.[0] ?? 0) - (a?.[0] ?? 0)).toBeCloseTo((c?.[0] ?? 0) - (b?.[0] ?? 0), 0);
    expect((a?.[1] ?? 0) - (b?.[1] ?? 0)).toBeCloseTo(2 * ((c?.[1] ?? 0) - (b?.[1] ?? 0)), 0);
    expect(svg.match(/class="interval"/g)).toHaveLength(3);
    expect(svg).toContain(`<path class="frontier" d="M${a?.[0]} ${a?.[1]}H${b?.[0]}V${b?.[1]}H856"/>`);
    expect(svg).toContain('>1 a</text>');
    expect(svg).toContain('>3</text>');
  });

  it('gives free contestants a place of their own', () => {
    const [free, paid] = centres(costPlot([row('free', 0.3, 0, true), row('paid', 0.5, 0.01, true)]).source);
    expect(free?.[0]).toBeGreaterThan(62);
    expect(free?.[0]).toBeLessThan(paid?.[0] ?? 0);
    expect(costPlot([row('free', 0.3, 0, true)]).source).not.toMatch(/NaN|Infinity/);
  });

  it('draws shares of 0 and of 1 inside', () => {
    const svg = costPlot([{ ...row('none', 0, 0.01), right: { mean: 0, low: 0, high: 0 } }, { ...row('all', 1, 0.02), right: { mean: 1, low: 1, high: 1 } }]).source;
    expect(centres(svg).map(([, y]) => y)).toEqual([384, 16]);
    expect(svg).toContain('>100 %</text>');
  });
});

describe('the plot as a file', () => {
  const { results } = finished();
  const file = (simulated: boolean): string => costPlotFile({ ...results, contestants: results.contestants.map((row) => ({ ...row, name: `${row.name} <&>` })), simulated });

  it('is one XML document with its own style, and a legend that names each contestant with its share', () => {
    const svg = file(false);
    expect(XMLValidator.validate(svg)).toBe(true);
    for (const [index, { name, right }] of results.contestants.entries()) expect(svg).toContain(`>${index + 1} ${name} &lt;&amp;&gt;, ${percent(right.mean)}</text>`);
    expect(svg).toContain('prefers-color-scheme:dark');
  });

  it('says in the picture that workers are simulated', () => {
    expect(file(true)).toContain('>Simulated workers, which show nothing about real models: ');
    expect(file(false)).not.toContain('Simulated');
  });
});

it('escapes what is put into markup unless it is markup', () => {
  expect(html`<b title="${'"<&>'}">${['<', html`<i>${1}</i>`, undefined]}</b>`.source).toBe('<b title="&quot;&lt;&amp;&gt;">&lt;<i>1</i></b>');
});
