#!/usr/bin/env bash
# Makes conductor-mini from nothing: imitation, five trainings in the gym, the mean of their weights. Killed, it goes on where it was.
set -euo pipefail
lab() { node with-node.mjs node backend/lab.ts "$@"; }

lab mini
for seed in 1 2 3 4 5; do lab gym-train --seed "$seed" --steps 150 --wants 180; done
lab gym-mean --out media/conductor-mini dist/gym/seed-{1..5}-wants/trained
lab mini --evaluate --out media/conductor-mini
