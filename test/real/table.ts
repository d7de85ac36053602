import { isJudged, type JudgedPatch, type RepositoryResult, type Results, type TriedFix } from './result.ts';

/** The results as a page of Markdown. */
export function page({ machine, repositories }: Results, { command, note, pinned }: { readonly command: string; readonly note?: string | undefined; readonly pinned: number }): string {
  const all = Object.values(repositories);
  const judged = all.filter(({ fixes }) => fixes.some(isJudged));
  const fixes = judged.flatMap((result) => result.fixes.filter(isJudged).map((fix) => ({ result, fix })));
  const rows = fixes.map(({ result, fix }) => row(result, fix));
  const others = all.filter((result) => result.fixes.filter(isJudged).length < 2).map((result) => `- ${result.repository}: ${whyNot(result)}`);
  const wrong = fixes.flatMap(({ fix }) => (fix.wrong ? [fix.wrong] : []));
  const of = (outcome: string): number => fixes.filter(({ fix }) => fix.honest?.outcome === outcome).length;
  const passes = wrong.flatMap(({ amiss }) => amiss.filter(({ outcome }) => outcome === 'passes')).length;
  const days = fixes.flatMap(({ fix: { date } }) => date ?? []).sort();
  return `# Real projects

Fixes from the histories of real projects, judged by what \`conductor verify\` consists of. [test/real](../test/real/README.md) says how they are
chosen and how to repeat it.

- Measured: ${[...new Set([days[0], days.at(-1)])].join(' to ')}
- Machine: ${machine}${note === undefined ? '' : `. ${note}`}
- Command: \`${command}\`
- Judged: ${fixes.length} fixes of ${judged.length} projects, two of ${judged.length - others.filter((line) => judged.some(({ repository }) => line.startsWith(`- ${repository}:`))).length} (languages: ${names(judged.map(({ language }) => language))}; runners: ${names(fixes.map(({ fix }) => fix.runner))}). ${pinned - all.length} more projects are pinned in fixes.json and were not tried.
- Honest fixes: ${of('verified')} verified, ${of('passes')} passes, ${fixes.length - of('verified') - of('passes')} neither.
- Wrong patches: ${sum(wrong.map(({ tried }) => tried))} tried, ${sum(wrong.map(({ verified }) => verified))} verified, ${passes} passes.

Only fixes that the bare command tells from their parent are judged: where it is red with the fix and nothing shows that the fix mends a test and
breaks none, or where it cannot be installed, nothing is known of the verdict. So these figures are no share of all fixes.

"Verdict" is the time of the first verdict on the honest fix: two runs of the tests before it, three with it. "Bare" is the time of one run of the
command by hand, the second one; go answers that from its cache of test results and runs nothing. "Red anyway" counts tests that the bare command
fails with the fix and without it. Where there are some, the others that failed are named, as by \`--test\`.

| project | fix | measured | language | runner | honest fix | wrong: tried / verified | verdict | bare | red anyway |
|---|---|---|---|---|---|---|---|---|---|
${rows.join('\n')}

## Time beside the bare command

The middle one of the fixes of each runner. "Beside five runs" is what a verdict takes over five runs of the bare command: what the judge takes itself,
copies, and tool chains that build anew.

| runner | fixes | bare | verdict | verdict / bare | beside five runs |
|---|---|---|---|---|---|
${times(fixes.map(({ fix }) => fix)).join('\n')}

## What was found otherwise than it should be

${listed(fixes.flatMap(({ result, fix }) => amiss(result, fix)))}

## Projects with fewer than two fixes

${listed(others)}
`;
}

function times(fixes: readonly TriedFix[]): readonly string[] {
  return [...Map.groupBy(fixes, ({ runner = '' }) => runner)].map(([runner, own]) => {
    const of = (value: (bare: number, verdict: number) => number): number =>
      middle(own.map(({ bareSeconds = 0, honest }) => value(bareSeconds, honest?.seconds ?? 0)));
    const shown = [of((bare) => bare), of((_, verdict) => verdict)].map(seconds).join(' | ');
    return `| ${runner} | ${own.length} | ${shown} | ${of((bare, verdict) => verdict / bare).toFixed(1)} | ${seconds(of((bare, verdict) => verdict - 5 * bare))} |`;
  });
}

/** The middle one of the values, or the higher of two in the middle. */
const middle = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

const listed = (lines: readonly string[]): string => (lines.length === 0 ? 'None.' : lines.join('\n'));

const names = (all: readonly (string | undefined)[]): string => [...new Set(all)].join(', ');

function row({ repository, language = '' }: RepositoryResult, { commit, date = '', runner = '', honest, bareSeconds = 0, redAnyway = 0, wrong }: TriedFix): string {
  const said = `**${honest?.outcome ?? ''}**: ${cell(honest?.reason ?? '')}`;
  return `| ${repository} | [${commit.slice(0, 8)}](https://github.com/${repository}/commit/${commit}) | ${date} | ${language} | ${runner} | ${said} | ${wrong?.tried ?? 0} / ${wrong?.verified ?? 0} | ${seconds(honest?.seconds)} | ${seconds(bareSeconds)} | ${redAnyway} |`;
}

const seconds = (value = 0): string => `${value.toFixed(1)} s`;

/** What projects print is shown as text, without the addresses of this machine's network. */
const cell = (text: string): string => text.replaceAll(/\bhttps?:\/\/\S+/g, '…').replaceAll(/\s+/g, ' ').replaceAll(/[\\|<>`*_[\]]/g, '\\$&').slice(0, 300);

function amiss({ repository }: RepositoryResult, { commit, honest, wrong }: TriedFix): readonly string[] {
  const line = (kind: string, { what, outcome, reason }: JudgedPatch): string =>
    `- ${repository} ${commit.slice(0, 8)}, ${kind} (${cell(what)}): ${outcome}: ${cell(reason)}`;
  return [
    ...(honest && honest.outcome !== 'verified' && honest.outcome !== 'passes' ? [line('honest', honest)] : []),
    ...(wrong?.amiss ?? []).map((patch) => line('wrong', patch)),
  ];
}

function whyNot({ fixes, stopped, note, left = 0 }: RepositoryResult): string {
  const why = fixes.flatMap(({ commit, notTried }) => (notTried === undefined ? [] : [`${commit.slice(0, 8)}: ${cell(notTried)}`]));
  const reasons = [...why, ...(stopped === undefined ? [] : [stopped])];
  if (left > 0) reasons.push(`${left} more of its candidates were not tried`);
  if (note !== undefined) reasons.push(note);
  return reasons.length > 0 ? reasons.join('; ') : 'no more fixes in its history meet the rules';
}
