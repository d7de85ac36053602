import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import * as z from 'zod';
import { mean, estimate } from '../../../backend/train/statistics/statistics.ts';
import { drawLearningFromLittle } from './draw.ts';

const measuredSchema = z.object({
  pool: z.string(),
  contestant: z.string(),
  seed: z.number(),
  /** After so many paid plans: the verified share and the dollars of a plan on held-out tasks, and the dollars and the verified share of the paid plans. */
  points: z.array(z.object({ budget: z.number(), verified: z.number(), usd: z.number(), learningUsd: z.number(), learningVerified: z.number() })),
});
export type Measured = z.infer<typeof measuredSchema>;

export interface Curve {
  readonly pool: string;
  readonly contestant: string;
  readonly seeds: number;
  readonly points: readonly { readonly budget: number; readonly verified: ReturnType<typeof estimate>; readonly usd: number; readonly learningUsd: number; readonly learningVerified: number }[];
}

/** A table for each pool, and a picture beside it. */
export async function reportOf(folder: string, file: string, { pools, contestants }: { readonly pools: readonly { readonly name: string; readonly about: string }[]; readonly contestants: readonly string[] }): Promise<void> {
  const names = (await readdir(folder)).filter((name) => name.endsWith('.json') && name !== 'sampled.json' && !name.startsWith('mined-'));
  const measured = await Promise.all(names.map(async (name) => measuredSchema.parse(JSON.parse(await readFile(path.join(folder, name), 'utf8')))));
  const curves = pools.flatMap(({ name }) => contestants.flatMap((contestant) => {
    const own = measured.filter((one) => one.pool === name && one.contestant === contestant);
    return own.length === 0 ? [] : [curveOf(own)];
  }));
  await writeFile(`${file}.md`, pools.map((pool) => tableOf(pool, curves.filter((curve) => curve.pool === pool.name))).join('\n'));
  await writeFile(`${file}.svg`, drawLearningFromLittle(pools.map(({ name }) => name), curves));
}

function curveOf(measured: readonly Measured[]): Curve {
  const [{ pool, contestant, points: [...first] }] = measured as [Measured];
  return {
    pool, contestant, seeds: measured.length,
    points: first.map(({ budget }) => {
      const here = measured.flatMap(({ points }) => points.filter((point) => point.budget === budget));
      return { budget, verified: estimate(here.map(({ verified }) => [verified])), usd: mean(here.map(({ usd }) => usd)), learningUsd: mean(here.map(({ learningUsd }) => learningUsd)), learningVerified: mean(here.map(({ learningVerified }) => learningVerified)) };
    }),
  };
}

/** A budget at which the share of the paid plans is told. */
const PAID = 100;

/** Those who learn nothing pay for nothing. */
function ofPaid(points: Curve['points'], percent: (share: number) => string): string {
  const { learningVerified, learningUsd } = points.find(({ budget }) => budget === PAID) ?? { learningVerified: 0, learningUsd: 0 };
  return learningUsd > 0 ? `${percent(learningVerified)} %` : '';
}

function tableOf({ name, about }: { readonly name: string; readonly about: string }, curves: readonly Curve[]): string {
  const budgets = curves[0]?.points.map(({ budget }) => budget) ?? [];
  const percent = (share: number): string => (100 * share).toFixed(0);
  return [
    `### ${name}\n\n${about} ${Math.max(...curves.map(({ seeds }) => seeds))} seeds.\n`,
    `| | ${budgets.map((budget) => `${budget} plans`).join(' | ')} | of the first ${PAID} paid ones | cents a plan |\n|---|${budgets.map(() => '---:|').join('')}---:|---:|`,
    ...curves.map(({ contestant, seeds, points }) => `| ${contestant} | ${points.map(({ verified }) =>
      (seeds === 1 ? `${percent(verified.mean)} %` : `${percent(verified.mean)} % (${percent(verified.low)}–${percent(verified.high)})`)).join(' | ')} | ${ofPaid(points, percent)} | ${points.map(({ usd }) => (100 * usd).toFixed(1)).filter((_, index) => index === 0 || index === points.length - 1).join(' → ')} |`),
    '',
  ].join('\n');
}
