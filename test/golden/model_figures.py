"""What PyTorch says of a model, alone and with adapters: log-probabilities, logits, greedy tokens, gradients."""

import torch
from safetensors.torch import save_file
from transformers import GenerationConfig

# (length, prompt length): prompts of one token and of all but one, no completion at all, lengths at and just after a power of
# two, and a long one.
SEQUENCES = [(3, 1), (5, 4), (6, 6), (16, 7), (17, 9), (33, 16), (70, 40)]
PROMPT_LENGTHS = [1, 3, 9, 20, 41]
NEW_TOKENS = 24
# Of the logits of the chosen and the second token. Far above what another order of additions in float32 can change.
SMALLEST_LEAD = 5e-3
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
    "llama-tiny": {
        "model.layers.0.self_attn.q_proj.weight": None,
        "model.layers.1.mlp.up_proj.weight": None,
    },
    "mistral-tiny": {
        "model.layers.0.self_attn.k_proj.weight": None,
        "model.layers.1.self_attn.v_proj.weight": None,
    },
    "phi3-tiny": {
        "model.layers.0.self_attn.qkv_proj.weight": None,
        "model.layers.1.mlp.gate_up_proj.weight": None,
    },
    "phi4-tiny": {
        "model.layers.0.self_attn.qkv_proj.weight": None,
        "model.layers.1.mlp.gate_up_proj.weight": None,
    },
    "gemma3-tiny": {
        "model.embed_tokens.weight": 64,
        "model.layers.0.input_layernorm.weight": None,
        "model.layers.0.self_attn.q_proj.weight": None,
        "model.layers.1.self_attn.k_norm.weight": None,
        "model.layers.1.post_attention_layernorm.weight": None,
        "model.layers.2.post_feedforward_layernorm.weight": None,
        "model.layers.2.mlp.gate_proj.weight": None,
    },
}


def rounded(tensor, digits=6):
    """Six digits after the point: a hundredth of what is allowed between two implementations."""
    return [round(v, digits) for v in tensor.double().tolist()]


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
    assert logits.argmax(-1).tolist() == tokens, "the cache changes the greedy tokens"
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


def separated(name, gradient, config):
    """Fused matrices as the matrices that other models have in their place; adapters of them stay as they are."""
    if "lora_" in name:
        return [(name, gradient)]
    if "qkv_proj" in name:
        size = config.hidden_size // config.num_attention_heads
        rows = [config.num_attention_heads * size, *[config.num_key_value_heads * size] * 2]
        parts = zip(["q_proj", "k_proj", "v_proj"], gradient.split(rows))
        return [(name.replace("qkv_proj", part), rows.contiguous()) for part, rows in parts]
    if "gate_up_proj" in name:
        parts = zip(["gate_proj", "up_proj"], gradient.chunk(2))
        return [(name.replace("gate_up_proj", part), rows.contiguous()) for part, rows in parts]
    return [(name, gradient)]


def write_gradients(path, model, sequences, rows_of):
    """Of the mean over all completion tokens of their negative log-probability, which is returned. `rows_of`: the weights
    that are trained, and how many of their first rows are kept."""
    weights = dict(model.named_parameters())
    for name, weight in weights.items():
        weight.requires_grad_(name in rows_of)
    values = [token_logprobs(model, s)[0][p - 1:] for s, (_, p) in zip(sequences, SEQUENCES)]
    loss = -torch.cat(values).mean()
    loss.backward()
    # Named as in the files of weights: peft's parameters hold the adapter's name, its files do not.
    kept = {n.replace(".default.", "."): weights[n].grad[:rows].contiguous() for n, rows in rows_of.items()}
    save_file({n: g for name, gradient in kept.items() for n, g in separated(name, gradient, model.config)}, path)
    return round(loss.item(), 6)


def figures_of(name, variants, stop_ids, gradients_folder):
    """`variants`: by name, the model alone first, then the model with each of its adapters. Gradients become files."""
    vocabulary = variants[name].config.vocab_size
    sequences = make_sequences(vocabulary)
    prompts = choose_prompts(variants.values(), vocabulary, stop_ids)
    continued = {str(generate(model, prompts, None)) for model in variants.values()}
    assert len(continued) == len(variants), "an adapter changes no greedy token"

    figures = {}
    for variant, model in variants.items():
        lora = {weight: None for weight, _ in model.named_parameters() if "lora_" in weight}
        figures[variant] = {
            **score(model, sequences),
            "greedy": greedy(model, prompts),
            "loss": write_gradients(
                gradients_folder / f"{variant}.safetensors", model, sequences, lora or BASE_GRADIENTS[name]),
        }
    return {
        "model": name,
        "sequences": sequences,
        "promptLengths": [p for _, p in SEQUENCES],
        "prompts": prompts,
        "newTokens": NEW_TOKENS,
        "base": figures.pop(name),
        "adapters": figures,
    }
