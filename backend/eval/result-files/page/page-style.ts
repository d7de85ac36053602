/** The page's style. Contestants are filtered by it, too, so that the page needs no script. */
export function pageStyle(contestants: number): string {
  const chosen = (select: string, value: string): string => `:has(#${select} option[value="${value}"]:checked)`;
  const filters = Array.from({ length: contestants }, (_, index) => {
    const of = `body${chosen('of', `c${index}`)}`;
    return `${of} :is(.sample:not(.c${index}),.task:not(.t${index})){display:none}${of}${chosen('only', 'wrong')} .task:not(.w${index}){display:none}`;
  });
  return `${STYLE}body${chosen('only', 'wrong')} :is(.sample.right,.task.right){display:none}${filters.join('')}`;
}

const STYLE = `
:root{color-scheme:light dark;--ink:#1f2328;--faint:#59636e;--paper:#fff;--raised:#f6f8fa;--line:#d1d9e0;--blue:#0b5cad;--right:#1a7f37;--wrong:#c0262d}
@media (prefers-color-scheme:dark){:root{--ink:#e6edf3;--faint:#9da7b1;--paper:#0d1117;--raised:#161b22;--line:#3d444d;--blue:#6cb6ff;--right:#57c26c;--wrong:#ff7b72}}
*{box-sizing:border-box}
body{margin:0 auto;max-width:75rem;padding:1.5rem;font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
h1{font-size:1.5rem;margin:0}h2{font-size:1.15rem;margin:2rem 0 .5rem}
p{margin:.4rem 0;max-width:60rem}.faint{color:var(--faint)}
.simulated{border:1px solid var(--line);border-left:4px solid var(--wrong);background:var(--raised);padding:.5rem .75rem}
svg{display:block;width:100%;max-width:60rem;height:auto;font:12px system-ui,sans-serif}
svg text{fill:var(--faint)}svg .label{fill:var(--ink);stroke:var(--paper);stroke-width:3;paint-order:stroke}svg .best.label{font-weight:600}
.grid,.axis,.tick{stroke:var(--line);fill:none}.interval{stroke:var(--faint);fill:none;opacity:.55}
.point{fill:var(--faint);stroke:var(--paper)}.point.best{fill:var(--blue)}.frontier{stroke:var(--blue);stroke-width:1.5;fill:none}
.scroll{overflow-x:auto}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.3rem .5rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600;color:var(--faint);vertical-align:bottom;white-space:normal}td:nth-child(2),th:nth-child(2){text-align:left}tr.best td{font-weight:600}
.filters{display:flex;flex-wrap:wrap;gap:1rem;margin:.5rem 0}select{font:inherit;color:inherit;background:var(--raised);border:1px solid var(--line);border-radius:4px;padding:.2rem}
details{border:1px solid var(--line);border-radius:6px;margin:.35rem 0}
summary{cursor:pointer;padding:.35rem .6rem;overflow-wrap:anywhere}summary:hover{background:var(--raised)}
:is(summary,select,.scroll,pre):focus-visible{outline:2px solid var(--blue);outline-offset:1px}
details>:not(summary){margin-left:.8rem;margin-right:.8rem}details>:last-child{margin-bottom:.8rem}
.task{content-visibility:auto;contain-intrinsic-size:auto 2.3rem}
.mark{font-weight:700;margin-right:.4rem}.right>summary .mark{color:var(--right)}.wrong>summary .mark{color:var(--wrong)}
pre{margin:.3rem 0;padding:.5rem .7rem;max-height:32rem;overflow:auto;background:var(--raised);border-radius:4px;white-space:pre-wrap;overflow-wrap:anywhere;font:12.5px/1.45 ui-monospace,monospace}
.step{border-left:3px solid var(--line);padding-left:.7rem;margin:.6rem 0}h3,h4{font-size:.95rem;margin:.6rem 0 .2rem}h4{font-weight:600}
`;
