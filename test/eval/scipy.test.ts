import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { estimate } from '../../backend/train/statistics/statistics.ts';

const run = promisify(execFile);
const hasSciPy = await run('python3', ['-c', 'import scipy.stats']).then(() => true, () => false);

const BOOTSTRAP = `
import json, sys
import numpy as np
from scipy.stats import bootstrap
values = json.loads(sys.argv[1])
found = bootstrap((values,), np.mean, confidence_level=0.95, n_resamples=20000, method="percentile", rng=np.random.default_rng(1))
print(json.dumps([found.confidence_interval.low, found.confidence_interval.high]))
`;

it.skipIf(!hasSciPy)(`intervals are those of SciPy's percentile bootstrap (${hasSciPy ? 'compared' : 'not tried, no SciPy here'})`, async () => {
  for (const [count, every] of [[40, 3], [120, 2], [300, 7]] as const) {
    const values = Array.from({ length: count }, (_, index) => Number(index % every === 0));
    const { low, high } = estimate([values], { seed: 5, resamples: 4_000 });
    const { stdout } = await run('python3', ['-c', BOOTSTRAP, JSON.stringify(values)]);
    const [theirLow, theirHigh] = JSON.parse(stdout) as [number, number];
    // Resamples of 0 and 1 have means that are 1/count apart; the two draw other ones.
    expect(Math.abs(low - theirLow)).toBeLessThanOrEqual(1.5 / count);
    expect(Math.abs(high - theirHigh)).toBeLessThanOrEqual(1.5 / count);
  }
}, 60_000);
