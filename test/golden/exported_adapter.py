"""Loads adapters that export-trained.ts trained and wrote into PyTorch with peft, and compares log-probabilities.

    node with-node.mjs node test/golden/export-trained.ts OUT
    python test/golden/exported_adapter.py OUT

Prints the largest absolute difference for each model, and how much the adapter changes at all; fails above 1e-4.
"""

import json
import sys
from pathlib import Path

import torch
from peft import PeftModel
from transformers import AutoModelForCausalLM


def logprobs_of(model, sequence, prompt_length):
    with torch.no_grad():
        logits = model(torch.tensor([sequence])).logits[0].double()
    table = torch.log_softmax(logits, dim=-1)
    return [table[at - 1, sequence[at]].item() for at in range(prompt_length, len(sequence))]


def main(folder):
    worst = 0.0
    for figures in sorted(Path(folder).glob("*/figures.json")):
        told = json.loads(figures.read_text())
        base = AutoModelForCausalLM.from_pretrained(told["model"], dtype=torch.float32)
        model = PeftModel.from_pretrained(base, told["adapter"]).eval()
        ours, theirs, without = [], [], []
        for row, (sequence, length) in enumerate(zip(told["sequences"], told["promptLengths"])):
            theirs += logprobs_of(model, sequence, length)
            ours += told["logprobs"][row]
            without += told["base"][row]
        difference = max(abs(a - b) for a, b in zip(ours, theirs))
        change = max(abs(a - b) for a, b in zip(ours, without))
        print(f"{figures.parent.name}: largest difference {difference:.2e}; the adapter changes up to {change:.2f}")
        worst = max(worst, difference)
    return 0 if 0 < worst <= 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
