"""PyTorch's `generate` as one side of the comparison:  transformers_peer.py --model FOLDER --device cuda|cpu [--compile]

Answers each JSON line with one JSON line; see requests.ts. With --compile, `generate` compiles its decoding step where the cache is static
(transformers' default on CUDA); without, that is switched off.
"""

import argparse
import json
import sys
import time

import torch
import transformers
from transformers import AutoModelForCausalLM


def synchronized(device):
    if device == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter()


def generate(model, device, compiled, request):
    prompts, samples, new_tokens = request["prompts"], request["samples"], request["newTokens"]
    ids = torch.tensor(prompts, device=device)
    options = {"cache_implementation": "static"} if request.get("cache") == "static" else {}
    if not compiled:
        options["disable_compile"] = True
    if device == "cuda":
        torch.cuda.reset_peak_memory_stats()
    start = synchronized(device)
    with torch.inference_mode():
        result = model.generate(
            ids,
            attention_mask=torch.ones_like(ids),
            max_new_tokens=new_tokens,
            do_sample=True,
            temperature=1.0,
            top_k=0,
            top_p=1.0,
            num_return_sequences=samples,
            eos_token_id=None,
            pad_token_id=0,
            **options,
        )
    seconds = synchronized(device) - start
    tokens = result.shape[0] * (result.shape[1] - ids.shape[1])
    held = torch.cuda.max_memory_reserved() if device == "cuda" else 0
    return {"seconds": seconds, "tokens": tokens, "heldBytes": held}


def bandwidth(device, size):
    """The best of ten: copying `size` bytes, which are read and written, and summing them, which is a plain read."""
    source = torch.ones(size // 4, device=device)
    target = torch.empty_like(source)

    def best(work):
        fastest = float("inf")
        for _ in range(10):
            start = synchronized(device)
            work()
            fastest = min(fastest, synchronized(device) - start)
        return fastest

    copied, read = best(lambda: target.copy_(source)), best(lambda: source.sum())
    del source, target
    if device == "cuda":
        torch.cuda.empty_cache()
    return {"copyBytesPerSecond": 2 * size / copied, "readBytesPerSecond": size / read}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--compile", action="store_true")
    options = parser.parse_args()
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    start = time.perf_counter()
    model = AutoModelForCausalLM.from_pretrained(options.model, dtype=torch.bfloat16).to(options.device).eval()
    model.generation_config.eos_token_id = None
    version = f"torch {torch.__version__}, transformers {transformers.__version__}"
    answer({"version": version, "loadSeconds": time.perf_counter() - start})
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["kind"] == "bandwidth":
                answer(bandwidth(options.device, request["bytes"]))
            else:
                answer(generate(model, options.device, options.compile, request))
        except Exception as error:  # noqa: BLE001: one case that fails must not end the others
            if options.device == "cuda":
                torch.cuda.empty_cache()
            answer({"seconds": 0, "tokens": 0, "failure": f"{type(error).__name__}: {error}"[:300]})


def answer(value):
    print(json.dumps(value), flush=True)


main()
