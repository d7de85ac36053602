"""PyTorch's `generate` as a peer:  transformers_peer.py --model FOLDER --threads N

Answers each JSON line with one JSON line; see ../peer.ts.
"""

import argparse
import json
import sys
import time

import torch
import transformers
from transformers import AutoModelForCausalLM, StoppingCriteria, StoppingCriteriaList


class Clock(StoppingCriteria):
    """Stops nothing: notes when each token was there."""

    def __init__(self):
        self.start = time.perf_counter()
        self.at = []

    def __call__(self, input_ids, scores, **kwargs):
        self.at.append(time.perf_counter() - self.start)
        return torch.zeros(input_ids.shape[0], dtype=torch.bool)


def generate(model, prompts, new_tokens):
    ids = torch.tensor(prompts)
    cpu = time.process_time()
    clock = Clock()
    with torch.inference_mode():
        result = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new_tokens,
            do_sample=False,
            eos_token_id=None,
            pad_token_id=0,
            stopping_criteria=StoppingCriteriaList([clock]),
        )
    first = clock.at[0]
    return {
        "tokens": result[:, ids.shape[1]:].tolist(),
        "firstTokenSeconds": first,
        "fromTokens": 1,
        "fromSeconds": first,
        "endSeconds": clock.at[-1],
        "cpuSeconds": time.process_time() - cpu,
    }


def read(size):
    """The best of ten sums over `size` bytes of float32."""
    values = torch.ones(size // 4)
    best = float("inf")
    for _ in range(10):
        start = time.perf_counter()
        values.sum().item()
        best = min(best, time.perf_counter() - start)
    return {"seconds": best}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, required=True)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    start = time.perf_counter()
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.float32).eval()
    model.generation_config.eos_token_id = None
    version = f"torch {torch.__version__}, transformers {transformers.__version__}"
    answer({"version": version, "loadSeconds": time.perf_counter() - start})
    for line in sys.stdin:
        request = json.loads(line)
        if request["kind"] == "read":
            answer(read(request["bytes"]))
        else:
            answer(generate(model, request["prompts"], request["newTokens"]))


def answer(value):
    print(json.dumps(value), flush=True)


main()
