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
from peft import LoraConfig, PeftModel, get_peft_model
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, GenerationConfig, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM

from tokenizer_figures import build_tokenizers, write_tokenizer_figures

HERE = Path(__file__).parent
OUTPUTS = ["models", "adapters", "figures", "gradients"]

# (length, prompt length): nothing before the first completion token, one completion token, none, lengths around powers of
# two, and one that is longer than most chunks.
SEQUENCES = [(3, 1), (5, 4), (6, 6), (16, 7), (17, 9), (33, 16), (70, 40)]
PROMPT_LENGTHS = [1, 3, 9, 20, 41]
NEW_TOKENS = 24
# Of the logits of the chosen and the second token. Far above what another order of additions in float32 can change.
SMALLEST_LEAD = 5e-3
ALL_PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
# Of which base weights the gradient is kept, and how many rows (None: all): one of each kind, not more than a test needs.
BASE_GRADIENTS = {
    "qwen2-tiny": {
        "model.embed_tokens.weight": 64,
        "model.layers.0.input_layernorm.weight": None,
        "model.layers.0.self_attn.q_proj.bias": None,
        "model.layers.0.self_attn.k_proj.weight": None,
        "model.layers.0.self_attn.k_proj.bias": None,
        "model.layers.1.mlp.down_proj.weight": None,
        "model.layers.2.post_attention_layernorm.weight": None,
        "model.norm.weight": None,
    },
    "qwen2-tiny-untied": {
        "model.embed_tokens.weight": 64,
        "model.layers.1.self_attn.o_proj.weight": None,
        "lm_head.weight": 64,
    },
    "qwen3-tiny": {
        "model.layers.0.self_attn.q_norm.weight": None,
        "model.layers.0.self_attn.k_norm.weight": None,
        "model.layers.0.self_attn.v_proj.weight": None,
        "model.layers.1.mlp.gate_proj.weight": None,
        "model.layers.1.self_attn.q_norm.weight": None,
    },
}


def write_json(path, value):
    """One line for each innermost list, so that a change of figures can be read in a diff."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(format_json(value, "") + "\n", encoding="utf-8")


def format_json(value, indent):
    nested = [v for v in (value.values() if isinstance(value, dict) else value if isinstance(value, list) else [])]
    if not any(isinstance(v, (dict, list)) for v in nested):
        return json.dumps(value, ensure_ascii=True)
    inner = indent + "  "
    if isinstance(value, dict):
        lines = [f"{inner}{json.dumps(k)}: {format_json(v, inner)}" for k, v in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(inner + format_json(v, inner) for v in value) + f"\n{indent}]"


def rounded(tensor, digits=6):
    """Six digits after the point: a hundredth of what is allowed between two implementations."""
    return [round(v, digits) for v in tensor.double().tolist()]


# ---- models ----


def randomise(model, seed, embedding_scale):
    """Weights with which every part matters: logits are spread out, attention is neither flat nor a single position, and
    what the layers add outweighs the token itself (else tied embeddings would repeat it)."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith("norm.weight"):
                weight.copy_(1 + 0.2 * noise)
            elif name.endswith(".bias"):
                weight.copy_(0.5 * noise)
            elif "embed_tokens" in name or "lm_head" in name:
                weight.copy_(embedding_scale * noise)
            else:
                weight.copy_(noise * 1.5 / weight.shape[1] ** 0.5)


def make_models(folder, stop_ids):
    """`stop_ids`: by model with a tokenizer, the end of a turn and the end of a text."""
    common = dict(initializer_range=0.02, attention_dropout=0.0)

    turn, text = stop_ids["qwen2-tiny"]
    model = Qwen2ForCausalLM(Qwen2Config(
        vocab_size=832, rms_norm_eps=1e-6, hidden_size=64, intermediate_size=160, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=2048, tie_word_embeddings=True, bos_token_id=text, eos_token_id=turn,
        rope_parameters={"rope_type": "default", "rope_theta": 1000000.0}, **common))
    randomise(model, 1, 0.35)
    model.generation_config = GenerationConfig(
        bos_token_id=text, pad_token_id=text, eos_token_id=[turn, text], do_sample=True, temperature=0.7, top_p=0.8, top_k=20,
        repetition_penalty=1.1)
    model.to(torch.bfloat16).save_pretrained(folder / "qwen2-tiny")

    model = Qwen2ForCausalLM(Qwen2Config(
        vocab_size=512, rms_norm_eps=1e-5, hidden_size=96, intermediate_size=96, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=2, max_position_embeddings=1024, tie_word_embeddings=False, bos_token_id=1, eos_token_id=2,
        rope_parameters={"rope_type": "default", "rope_theta": 10000.0}, **common))
    randomise(model, 2, 0.3)
    model.save_pretrained(folder / "qwen2-tiny-untied", max_shard_size="200KB")
    write_old_config(folder / "qwen2-tiny-untied")

    turn, text = stop_ids["qwen3-tiny"]
    model = Qwen3ForCausalLM(Qwen3Config(
        vocab_size=832, rms_norm_eps=1e-3, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=8,
        num_key_value_heads=2, head_dim=32, max_position_embeddings=4096, tie_word_embeddings=True, attention_bias=False,
        bos_token_id=text, eos_token_id=turn, rope_parameters={"rope_type": "default", "rope_theta": 5000000.0}, **common))
    randomise(model, 3, 0.35)
    model.generation_config = GenerationConfig(
        bos_token_id=text, pad_token_id=text, eos_token_id=[turn, text], do_sample=True, temperature=0.6, top_p=0.95, top_k=20)
    model.to(torch.float16).save_pretrained(folder / "qwen3-tiny")


def write_old_config(folder):
    """The form that transformers wrote before version 5, without a file of generation settings."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["rope_theta"] = config.pop("rope_parameters")["rope_theta"]
    config["rope_scaling"] = None
    config["torch_dtype"] = config.pop("dtype")
    config["sliding_window"] = 1024
    config["transformers_version"] = "4.46.3"
    for name in ["layer_types", "pad_token_id"]:
        config.pop(name, None)
    path.write_text(json.dumps(dict(sorted(config.items())), indent=2) + "\n")
    (folder / "generation_config.json").unlink()


def load(folder):
    """As the figures are computed: weights cast to float32, attention written out."""
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


# ---- adapters ----


def make_adapter(base, folder, name, seed, dtype=torch.float32, **settings):
    model = get_peft_model(load(base), LoraConfig(task_type="CAUSAL_LM", lora_dropout=0.0, bias="none", **settings))
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight_name, weight in model.named_parameters():
            if "lora_" in weight_name:
                scale = weight.shape[1] ** -0.5 if "lora_A" in weight_name else 0.15
                weight.data = (scale * torch.randn(weight.shape, generator=generator)).to(dtype)
    config = model.peft_config["default"]
    config.base_model_name_or_path = base.name
    model.save_pretrained(folder / name, save_embedding_layers=False)
    (folder / name / "README.md").unlink(missing_ok=True)
    # peft keeps the projections in a set, whose order differs from process to process.
    path = folder / name / "adapter_config.json"
    written = json.loads(path.read_text())
    written["target_modules"] = sorted(written["target_modules"])
    path.write_text(json.dumps(written, indent=2) + "\n")


def make_adapters(models, folder):
    make_adapter(models / "qwen2-tiny", folder, "qwen2-tiny-all", 11, r=4, lora_alpha=8, target_modules=ALL_PROJECTIONS)
    make_adapter(models / "qwen2-tiny", folder, "qwen2-tiny-attention", 12, r=3, lora_alpha=6, use_rslora=True,
                 target_modules=["q_proj", "v_proj"])
    make_adapter(models / "qwen3-tiny", folder, "qwen3-tiny-all", 13, dtype=torch.bfloat16, r=4, lora_alpha=8,
                 target_modules=ALL_PROJECTIONS)
    return {"qwen2-tiny": ["qwen2-tiny-all", "qwen2-tiny-attention"], "qwen2-tiny-untied": [], "qwen3-tiny": ["qwen3-tiny-all"]}


def with_adapter(base, folder):
    model = PeftModel.from_pretrained(load(base), folder, is_trainable=True).eval()
    assert all(w.dtype == torch.float32 for w in model.parameters())
    return model


# ---- figures ----


def random_ids(vocabulary, length, seed):
    return torch.randint(0, vocabulary, (length,), generator=torch.Generator().manual_seed(seed)).tolist()


def make_sequences(vocabulary):
    """The first holds the lowest and the highest id."""
    sequences = [random_ids(vocabulary, length, 100 + length) for length, _ in SEQUENCES]
    sequences[0] = [0, vocabulary - 1, 0]
    return sequences


def token_logprobs(model, sequence):
    """Log-probability of every token but the first, and the logits: no batch, no padding."""
    logits = model(torch.tensor([sequence])).logits[0]
    logprobs = torch.log_softmax(logits, -1)[:-1].gather(1, torch.tensor(sequence[1:])[:, None])[:, 0]
    return logprobs, logits


@torch.no_grad()
def score(model, sequences):
    logprobs, first, last = [], [], []
    for sequence, (_, prompt_length) in zip(sequences, SEQUENCES):
        values, logits = token_logprobs(model, sequence)
        logprobs.append(rounded(values[prompt_length - 1:]))
        first.append(rounded(logits[0, :8]))
        last.append(rounded(logits[-1, :8]))
    return {"completionLogprobs": logprobs, "firstLogits": first, "lastLogits": last}


@torch.no_grad()
def generate(model, prompts, stop_ids):
    """Greedy continuation of a batch, padded on the left; each row ends with its stop token, if it has one."""
    width = max(len(p) for p in prompts)
    ids = torch.tensor([[0] * (width - len(p)) + p for p in prompts])
    mask = torch.tensor([[0] * (width - len(p)) + [1] * len(p) for p in prompts])
    config = GenerationConfig(max_new_tokens=NEW_TOKENS, do_sample=False, pad_token_id=0, eos_token_id=stop_ids)
    model.generation_config = GenerationConfig()
    rows = model.generate(input_ids=ids, attention_mask=mask, generation_config=config)[:, width:].tolist()
    ends = [next((i + 1 for i, t in enumerate(row) if t in (stop_ids or [])), NEW_TOKENS) for row in rows]
    return [row[:end] for row, end in zip(rows, ends)]


@torch.no_grad()
def continue_alone(model, prompt):
    """Greedy tokens, and the smallest lead of a chosen token's logit over the second."""
    tokens = generate(model, [prompt], None)[0]
    logits = model(torch.tensor([prompt + tokens])).logits[0, len(prompt) - 1:-1]
    top = logits.topk(2).values
    return tokens, (top[:, 0] - top[:, 1]).min().item()


def is_telling(tokens, lead, stop_ids):
    """No near tie, no end before the last token, and not one token again and again."""
    return lead > SMALLEST_LEAD and not set(tokens) & set(stop_ids) and len(set(tokens)) >= NEW_TOKENS / 3


def choose_prompts(variants, vocabulary, stop_ids):
    """Random prompts with telling continuations, whichever adapter is on."""
    prompts = []
    for length in PROMPT_LENGTHS:
        for seed in range(1000 * length, 1000 * length + 100):
            prompt = random_ids(vocabulary, length, seed)
            found = [continue_alone(model, prompt) for model in variants]
            if all(is_telling(tokens, lead, stop_ids) for tokens, lead in found):
                prompts.append(prompt)
                break
    assert len(prompts) == len(PROMPT_LENGTHS), "no seed fits: look at the weights"
    return prompts


def first_new(tokens, start):
    """The first token from `start` on that has not occurred before."""
    return next(t for i, t in enumerate(tokens) if i >= start and t not in tokens[:i])


def greedy(model, prompts):
    alone = [continue_alone(model, prompt) for prompt in prompts]
    tokens = [row for row, _ in alone]
    assert tokens == generate(model, prompts, None), "padding changes the greedy tokens"
    stops = sorted([first_new(tokens[0], 4), first_new(tokens[2], 9)])
    return {
        "tokens": tokens,
        "smallestLead": round(min(lead for _, lead in alone), 6),
        "stopped": {"stopTokenIds": stops, "tokens": generate(model, prompts, stops)},
    }


def gradients(model, sequences, rows_of):
    """Of the mean over all completion tokens of their negative log-probability. `rows_of`: the weights that are wanted, and
    how many of their first rows; what is trained is these weights alone."""
    weights = dict(model.named_parameters())
    for name, weight in weights.items():
        weight.requires_grad_(name in rows_of)
    values = [token_logprobs(model, s)[0][p - 1:] for s, (_, p) in zip(sequences, SEQUENCES)]
    loss = -torch.cat(values).mean()
    loss.backward()
    return loss.item(), {name: weights[name].grad[:rows].clone().contiguous() for name, rows in rows_of.items()}


def write_gradients(path, model, sequences, rows_of):
    loss, found = gradients(model, sequences, rows_of)
    # Named as in the files of weights: peft's parameters hold the adapter's name, its files do not.
    save_file({name.replace(".default.", "."): g for name, g in found.items()}, path)
    return round(loss, 6)


def figures_of(name, variants, stop_ids):
    """`variants`: the model alone, then the model with each of its adapters, by the adapter's name."""
    vocabulary = variants["base"].config.vocab_size
    sequences = make_sequences(vocabulary)
    prompts = choose_prompts(variants.values(), vocabulary, stop_ids)
    continued = {str(generate(model, prompts, None)) for model in variants.values()}
    assert len(continued) == len(variants), "an adapter changes no greedy token"
    figures = {variant: {**score(m, sequences), "greedy": greedy(m, prompts)} for variant, m in variants.items()}
    return {
        "model": name,
        "sequences": sequences,
        "promptLengths": [p for _, p in SEQUENCES],
        "prompts": prompts,
        "newTokens": NEW_TOKENS,
        "base": figures.pop("base"),
        "adapters": figures,
    }


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
    make_models(out / "models", stop_ids)
    adapters_of = make_adapters(out / "models", out / "adapters")
    for name, adapter_names in adapters_of.items():
        variants = {"base": load(out / "models" / name)}
        variants |= {a: with_adapter(out / "models" / name, out / "adapters" / a) for a in adapter_names}
        figures = figures_of(name, variants, stop_ids.get(name, [2]))
        for variant, model in variants.items():
            adapter = {w: None for w, _ in model.named_parameters() if "lora_" in w}
            path = out / "gradients" / f"{name if variant == 'base' else variant}.safetensors"
            of = figures["base"] if variant == "base" else figures["adapters"][variant]
            of["loss"] = write_gradients(path, model, figures["sequences"], adapter or BASE_GRADIENTS[name])
        write_json(out / "figures" / f"{name}.json", figures)
    write_tokenizer_figures(out, tokenizers, write_json)


if __name__ == "__main__":
    main()
