import { isJudged, type JudgedPatch, type RepositoryResult, type Results, type TriedFix } from './result.ts';

/** The results as a page of Markdown. */
export function page({ machine, repositories }: Results, { date, command, note, pinned }: { readonly date: string; readonly command: string; readonly note?: string | undefined; readonly pinned: number }): string {
  const all = Object.values(repositories);
  const judged = all.filter(({ fixes }) => fixes.some(isJudged));
  const fixes = judged.flatMap((result) => result.fixes.filter(isJudged).map((fix) => ({ result, fix })));
  const rows = fixes.map(({ result, fix }) => row(result, fix));
  const others = all.filter((result) => result.fixes.filter(isJudged).length < 2).map((result) => `- ${result.repository}: ${whyNot(result)}`);
  const wrong = fixes.flatMap(({ fix }) => fix.wrong ?? []);
  const of = (outcome: string): number => fixes.filter(({ fix }) => fix.honest?.outcome === outcome).length;
  return `# Real projects

Fixes from the histories of real projects, judged by what \`conductor verify\` consists of. [test/real](../test/real/README.md) says how they are
chosen and how to repeat it.

- Date: ${date}
- Machine: ${machine}${note === undefined ? '' : `. ${note}`}
- Command: \`${command}\`
- Judged: ${fixes.length} fixes of ${judged.length} projects (languages: ${names(judged, 'language')}; runners: ${names(judged, 'runner')}). ${pinned - all.length} more projects are pinned in fixes.json and were not tried.
- Honest fixes: ${of('verified')} verified, ${of('passes')} passes, ${fixes.length - of('verified') - of('passes')} neither.
- Wrong patches: ${wrong.length} tried, ${wrong.filter(({ outcome }) => outcome === 'verified').length} verified, ${wrong.filter(({ outcome }) => outcome === 'passes').length} passes.

Only fixes that the bare command tells from their parent are judged: where it is red with the fix, or cannot be installed, nothing is known of the
verdict. So these figures are no share of all fixes.

"Verdict" is the time of the first verdict on the honest fix: two runs of the tests before it, three with it. "Bare" is the time of one run of the
command by hand, the second one.

| project | fix | language | runner | honest fix | wrong: tried / verified | verdict | bare |
|---|---|---|---|---|---|---|---|
${rows.join('\n')}

## What was found otherwise than it should be

${listed(fixes.flatMap(({ result, fix }) => amiss(result, fix)))}

## Projects with fewer than two fixes

${listed(others)}
`;
}

const listed = (lines: readonly string[]): string => (lines.length === 0 ? 'None.' : lines.join('\n'));

const names = (results: readonly RepositoryResult[], part: 'runner' | 'language'): string => [...new Set(results.map((result) => result[part]))].join(', ');

function row({ repository, language = '', runner = '' }: RepositoryResult, { commit, honest, bareSeconds = 0, wrong = [] }: TriedFix): string {
  const verified = wrong.filter(({ outcome }) => outcome === 'verified').length;
  const said = `**${honest?.outcome ?? ''}**: ${cell(honest?.reason ?? '')}`;
  return `| ${repository} | [${commit.slice(0, 8)}](https://github.com/${repository}/commit/${commit}) | ${language} | ${runner} | ${said} | ${wrong.length} / ${verified} | ${seconds(honest?.seconds)} | ${seconds(bareSeconds)} |`;
}

const seconds = (value = 0): string => `${value.toFixed(1)} s`;

/** What projects print is shown as text, without the addresses of this machine's network. */
const cell = (text: string): string => text.replaceAll(/\bhttps?:\/\/\S+/g, '…').replaceAll(/\s+/g, ' ').replaceAll(/[\\|<>`*_[\]]/g, '\\$&').slice(0, 300);

function amiss({ repository }: RepositoryResult, { commit, honest, wrong = [] }: TriedFix): readonly string[] {
  const line = (kind: string, { what, outcome, reason }: JudgedPatch): string =>
    `- ${repository} ${commit.slice(0, 8)}, ${kind} (${cell(what)}): ${outcome}: ${cell(reason)}`;
  return [
    ...(honest && honest.outcome !== 'verified' && honest.outcome !== 'passes' ? [line('honest', honest)] : []),
    ...wrong.filter(({ outcome }) => outcome === 'verified' || outcome === 'passes' || outcome === 'infrastructure').map((patch) => line('wrong', patch)),
  ];
}

function whyNot({ fixes, stopped, left = 0 }: RepositoryResult): string {
  const why = fixes.flatMap(({ commit, notTried }) => (notTried === undefined ? [] : [`${commit.slice(0, 8)}: ${cell(notTried)}`]));
  const reasons = [...why, ...(stopped === undefined ? [] : [stopped])];
  if (left > 0) reasons.push(`${left} more of its candidates were left, since one fix was asked for`);
  return reasons.length > 0 ? reasons.join('; ') : 'no more fixes in its history meet the rules';
}
