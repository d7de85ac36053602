"""Writes everything in this folder that is not source: tiny checkpoints, adapters, and what PyTorch says of them.

    python generate.py [--out FOLDER]

The same versions (requirements.txt) on the same machine write the same bytes again. README.md says what is what.
"""

import argparse
import json
import os
import shutil
import sys
from pathlib import Path

# Before the libraries start their threads: one thread adds up in one order.
os.environ.update(TOKENIZERS_PARALLELISM="false", RAYON_NUM_THREADS="1", HF_HUB_OFFLINE="1")
# No folder of compiled modules among the figures.
sys.dont_write_bytecode = True

import torch

from model_figures import figures_of
from tiny_models import load, make_adapters, make_models, with_adapter
from tokenizer_figures import build_tokenizers, write_sentencepiece_figures, write_tokenizer_figures

HERE = Path(__file__).parent
OUTPUTS = ["models", "adapters", "figures", "gradients"]


def write_json(path, value):
    """One line for each innermost list, so that a change of figures can be read in a diff."""
    path.write_text(format_json(value, "") + "\n", encoding="utf-8")


def format_json(value, indent):
    members = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    if not any(isinstance(member, (dict, list)) for member in members):
        return json.dumps(value)
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(k)}: {format_json(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + format_json(v, inner) for v in value) + f"\n{indent}]"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=HERE)
    out = parser.parse_args().out
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    for name in OUTPUTS:
        shutil.rmtree(out / name, ignore_errors=True)
        (out / name).mkdir(parents=True)

    tokenizers = build_tokenizers(HERE / "corpus.txt")
    stop_ids = {n: [t.token_to_id("<|im_end|>"), t.token_to_id("<|endoftext|>")] for n, t in tokenizers.items()}
    stop_ids |= {"qwen2-tiny-untied": [2], "llama-tiny": [2, 3], "mistral-tiny": [2], "phi3-tiny": [2], "phi4-tiny": [2], "gemma3-tiny": [1, 2]}
    make_models(out / "models", stop_ids)
    adapters_of = make_adapters(out / "models", out / "adapters")
    for name, adapter_names in adapters_of.items():
        variants = {name: load(out / "models" / name)}
        variants |= {a: with_adapter(out / "models" / name, out / "adapters" / a) for a in adapter_names}
        figures = figures_of(name, variants, stop_ids[name], out / "gradients")
        write_json(out / "figures" / f"{name}.json", figures)
    write_tokenizer_figures(out, tokenizers, write_json)
    write_sentencepiece_figures(out, "llama-tiny", write_json)


if __name__ == "__main__":
    main()
