"""What SciPy says of intervals and p-values, for intervals.test.ts. Prints JSON; figures.json is this with SciPy 1.17.1 and NumPy 2.4.6.

    python figures.py > figures.json

SciPy's bootstrap draws tasks. Tables of several seeds are drawn over tasks and seeds by NumPy, each resample on its own: A. B. Owen, "The
pigeonhole bootstrap" (2007).
"""

import json

import numpy as np
from scipy.stats import bootstrap, permutation_test

RESAMPLES = 20_000


def shares(count, every):
    return [float(index % every == 0) for index in range(count)]


def table(seeds, tasks):
    """Tasks of different difficulty, which seeds change."""
    return [[float((7 * task + 11 * seed * (task % 3)) % 10 < 6) for task in range(tasks)] for seed in range(seeds)]


def over_tasks(values):
    found = bootstrap((values,), np.mean, confidence_level=0.95, n_resamples=RESAMPLES, method="percentile", rng=np.random.default_rng(1))
    return [found.confidence_interval.low, found.confidence_interval.high]


def over_tasks_and_seeds(rows):
    values, rng = np.array(rows), np.random.default_rng(1)
    seeds, tasks = values.shape
    means = [values[np.ix_(rng.integers(0, seeds, seeds), rng.integers(0, tasks, tasks))].mean() for _ in range(RESAMPLES)]
    return [float(np.quantile(means, 0.025)), float(np.quantile(means, 0.975))]


def paired(differences):
    found = permutation_test((differences, np.zeros(len(differences))), lambda a, b, axis: np.mean(a - b, axis=axis), permutation_type="samples",
                             vectorized=True, n_resamples=RESAMPLES, alternative="two-sided", rng=np.random.default_rng(1))
    return float(found.pvalue)


one_seed = [shares(count, every) for count, every in [(40, 3), (120, 2), (300, 7), (30, 29)]]
graded = [[(index * 37 % 100) / 100 for index in range(60)]]
several = [table(2, 20), table(3, 50), table(5, 12)]
pairs = [[1.0] * 6 + [-1.0] * 2 + [0.0] * 12, [0.5] * 10 + [-0.5] * 9, [0.25] * 15 + [0.0] * 20 + [-1.0], [1.0] * 12]

print(json.dumps({
    "tasks": [{"values": values, "interval": over_tasks(values)} for values in [*one_seed, *graded]],
    "tasksAndSeeds": [{"rows": rows, "interval": over_tasks_and_seeds(rows)} for rows in several],
    "pairs": [{"differences": differences, "pValue": paired(differences)} for differences in pairs],
}))
