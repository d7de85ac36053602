"""What TRL and PyTorch say of training an adapter: losses, gradients, and steps of the optimiser.

    python training_figures.py [--out FOLDER]

The loss is `GRPOTrainer._compute_loss` of TRL itself, called on a stand-in for the trainer that holds the few things it reads.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True

import torch
from safetensors.torch import save_file
from trl import GRPOTrainer

from tiny_models import with_adapter

HERE = Path(__file__).parent
# By the name of the folder with its files. `importance`: of the trainer's policy to the sampler's.
CASES = {
    "grpo": dict(loss_type="grpo", beta=0.0, importance=False),
    "dr_grpo": dict(loss_type="dr_grpo", beta=0.0, importance=False),
    "dapo": dict(loss_type="dapo", beta=0.0, importance=True),
    "grpo-kl": dict(loss_type="grpo", beta=0.1, importance=False),
}
ADAPTERS = {"qwen2-tiny-all": "qwen2-tiny", "qwen3-tiny-all": "qwen3-tiny"}
CLIP = (0.2, 0.28)
METRICS = ["entropy", "kl", "clip_ratio/low_mean", "clip_ratio/high_mean", "clip_ratio/region_mean"]
MAX_COMPLETION_LENGTH = 40
TEMPERATURE = 0.8
STEPS = dict(case="dapo", count=3, learning_rate=0.01, weight_decay=0.01, max_norm=0.5)


def completion_logprobs(model, sequence, prompt_length):
    """Of the tokens after the prompt; and the entropy of the distribution that each was drawn from."""
    logits = model(torch.tensor([sequence])).logits[0, prompt_length - 1:-1] / TEMPERATURE
    logprobs = torch.log_softmax(logits, -1)
    entropies = -(logprobs.exp() * logprobs).sum(-1).detach()
    return logprobs.gather(1, torch.tensor(sequence[prompt_length:])[:, None])[:, 0], entropies


def padded(rows, fill=0.0):
    width = max(len(row) for row in rows)
    return torch.stack([torch.cat([row, torch.full((width - len(row),), fill)]) for row in rows])


def make_batch(model, figures):
    """Log-probabilities of the sampler and of the policy before, so far from today's that clipping is active on both sides."""
    pairs = [(s, p) for s, p in zip(figures["sequences"], figures["promptLengths"]) if p < len(s)]
    generator = torch.Generator().manual_seed(17)
    with torch.no_grad():
        now = [completion_logprobs(model, s, p)[0] for s, p in pairs]
        with model.disable_adapter():
            reference = [completion_logprobs(model, s, p)[0] for s, p in pairs]
    old = [row + 0.35 * torch.randn(row.shape, generator=generator) for row in now]
    importance = [torch.exp(0.3 * torch.randn(row.shape, generator=generator)).clamp(max=1.2) for row in now]
    advantages = torch.tensor([1.25 if i % 2 == 0 else -0.75 for i in range(len(pairs))])
    return pairs, old, importance, reference, advantages


def trainer_for(case, pairs):
    """The few things of a trainer that its loss reads."""
    def logps(model, input_ids, *_, **__):
        logprobs, entropies = zip(*(completion_logprobs(model, s, p) for s, p in pairs))
        return padded(logprobs), padded(entropies), None

    same = lambda value, **_: value
    return SimpleNamespace(
        _get_per_token_logps_and_entropies=logps, aux_loss_enabled=False, top_entropy_quantile=1.0, off_policy_mask_threshold=None,
        importance_sampling_level="token", beta=case["beta"], loss_type=case["loss_type"], epsilon_low=CLIP[0], epsilon_high=CLIP[1],
        args=SimpleNamespace(use_bias_correction_kl=False, delta=None, steps_per_generation=1), use_vllm=case["importance"],
        vllm_importance_sampling_correction=True, current_gradient_accumulation_steps=1, max_completion_length=MAX_COMPLETION_LENGTH,
        accelerator=SimpleNamespace(num_processes=1, gather=same, reduce=same, gather_for_metrics=same, sync_gradients=True),
        model=SimpleNamespace(training=True), _entropy_bonus_enabled=False, _metrics=defaultdict(lambda: defaultdict(list)))


def loss_of(model, case, batch):
    pairs, old, importance, reference, advantages = batch
    mask = padded([torch.ones_like(row) for row in old])
    trainer = trainer_for(case, pairs)
    inputs = dict(
        prompt_ids=torch.zeros((len(pairs), 1), dtype=torch.long), prompt_mask=torch.ones((len(pairs), 1)),
        completion_ids=torch.zeros(mask.shape, dtype=torch.long), completion_mask=mask, advantages=advantages,
        old_per_token_logps=padded(old), ref_per_token_logps=padded(reference), importance_sampling_ratio=padded(importance),
        num_items_in_batch=mask.sum())
    loss = GRPOTrainer._compute_loss(trainer, model, inputs)
    metrics = {name: values[-1] for name, values in trainer._metrics["train"].items() if name in METRICS}
    return loss, metrics


def lora_of(model):
    return {name.replace(".default.", "."): weight for name, weight in model.named_parameters() if "lora_" in name}


def numbers(rows):
    return [[float(f"{value:.9g}") for value in row.tolist()] for row in rows]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path, default=HERE / "training")
    out = parser.parse_args().out
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    out.mkdir(parents=True, exist_ok=True)
    for adapter, base in ADAPTERS.items():
        figures = json.loads((HERE / "figures" / f"{base}.json").read_text())
        model = with_adapter(HERE / "models" / base, HERE / "adapters" / adapter)
        batch = make_batch(model, figures)
        pairs, old, importance, reference, advantages = batch
        told = {
            "sequences": [s for s, _ in pairs], "promptLengths": [p for _, p in pairs], "oldLogprobs": numbers(old),
            "importance": numbers(importance), "referenceLogprobs": numbers(reference), "advantages": advantages.tolist(),
            "clip": CLIP, "maxCompletionLength": MAX_COMPLETION_LENGTH, "temperature": TEMPERATURE, "cases": {}}
        for name, case in CASES.items():
            model.zero_grad()
            loss, metrics = loss_of(model, case, batch)
            loss.backward()
            gradients = {n: weight.grad.contiguous() for n, weight in lora_of(model).items()}
            save_file(gradients, out / f"{adapter}-{name}.safetensors")
            norm = torch.linalg.vector_norm(torch.stack([g.norm() for g in gradients.values()])).item()
            assert all(metrics[f"clip_ratio/{side}_mean"] > 0.05 for side in ("low", "high")), "clipping is not active on both sides"
            told["cases"][name] = {"loss": loss.item(), "gradientNorm": norm, "beta": case["beta"], "importance": case["importance"],
                                   "lossType": case["loss_type"], "metrics": metrics}
        weights = list(lora_of(model).values())
        optimizer = torch.optim.AdamW(weights, lr=STEPS["learning_rate"], weight_decay=STEPS["weight_decay"])
        losses, norms = [], []
        for _ in range(STEPS["count"]):
            optimizer.zero_grad()
            loss, _ = loss_of(model, CASES[STEPS["case"]], batch)
            loss.backward()
            norms.append(torch.nn.utils.clip_grad_norm_(weights, STEPS["max_norm"]).item())
            optimizer.step()
            losses.append(loss.item())
        save_file({n: weight.detach().contiguous() for n, weight in lora_of(model).items()}, out / f"{adapter}-after-steps.safetensors")
        told["steps"] = {**STEPS, "losses": losses, "gradientNorms": norms}
        (out / f"{adapter}.json").write_text(json.dumps(told) + "\n")


if __name__ == "__main__":
    main()
