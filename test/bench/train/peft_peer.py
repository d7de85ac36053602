"""Updates in PyTorch with peft:  peft_peer.py --job FILE --base float32|bfloat16|4-bit [--checkpointing]

Reads a job and says JSON lines, see job.ts. The base is held in the given type; as in transformers' trainer, bfloat16 is computed under
autocast and the adapter stays in float32 (peft's default). Log-probabilities are taken of the completions alone, as TRL does, by PyTorch's
own cross-entropy.
"""

import argparse
import json
import os
import subprocess
import time
import warnings
from contextlib import nullcontext
from pathlib import Path

import peft
import torch
import transformers
from peft import PeftModel
from torch.nn.functional import cross_entropy
from transformers import AutoModelForCausalLM

ADAMW = dict(betas=(0.9, 0.999), eps=1e-8, weight_decay=0.0)


def say(**line):
    print(json.dumps(line), flush=True)


def load(job, base, checkpointing):
    device = job["device"]
    settings = dict(dtype=torch.float32 if base == "float32" else torch.bfloat16, device_map={"": device})
    if base == "4-bit":
        settings["quantization_config"] = transformers.BitsAndBytesConfig(
            load_in_4bit=True, bnb_4bit_quant_type="nf4", bnb_4bit_compute_dtype=torch.bfloat16)
    model = AutoModelForCausalLM.from_pretrained(job["model"], **settings)
    model.config.use_cache = False
    if checkpointing:
        # Named so in transformers 5.23, and gradient_… before.
        (getattr(model, "activation_checkpointing_enable", None) or model.gradient_checkpointing_enable)()
    # Layers are only recomputed in training; there is no dropout that it would switch on.
    return PeftModel.from_pretrained(model, job["adapter"], is_trainable=True).train()


def update(model, optimizer, job, autocast):
    device, prompt, rows = job["device"], job["promptTokens"], len(job["sequences"])
    sequences = torch.tensor(job["sequences"], device=device)
    old = torch.tensor(job["oldLogprobs"], device=device)
    advantages = torch.tensor(job["advantages"], device=device)[:, None]
    completion = sequences.shape[1] - prompt
    low, high = 1 - job["clip"]["low"], 1 + job["clip"]["high"]
    total = 0.0
    for start in range(0, rows, job["microBatch"]):
        part = slice(start, start + job["microBatch"])
        ids = sequences[part]
        with autocast():
            logits = model(input_ids=ids, logits_to_keep=completion + 1).logits[:, :-1]
        targets = ids[:, prompt:]
        logprobs = -cross_entropy(logits.float().flatten(0, 1), targets.flatten(), reduction="none").view(targets.shape)
        ratio = torch.exp(logprobs - old[part])
        gain = torch.minimum(ratio * advantages[part], ratio.clamp(low, high) * advantages[part])
        # The mean over completions of the mean over their tokens.
        loss = -gain.sum() / (rows * completion)
        loss.backward()
        total += loss.item()
    norm = torch.nn.utils.clip_grad_norm_([weight for group in optimizer.param_groups for weight in group["params"]], job["gradientClip"])
    optimizer.step()
    optimizer.zero_grad()
    return total, norm.item()


def peak_bytes(device):
    """The most memory that this process has held since `forget_peak`; on a GPU since ever, as the driver counts it: it gives none back."""
    if device == "cpu":
        status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
        return int(status["VmHWM"].split()[0]) * 1024
    query = ["nvidia-smi", "--query-compute-apps=pid,used_memory", "--format=csv,noheader,nounits"]
    used = dict(line.split(",") for line in subprocess.check_output(query, text=True).strip().splitlines())
    if str(os.getpid()) not in used:
        # In a container processes have other numbers outside: then all that is used counts.
        query = ["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"]
        return int(subprocess.check_output(query, text=True).splitlines()[0]) * 2**20
    return int(used[str(os.getpid())]) * 2**20


def forget_peak(device):
    if device == "cpu":
        Path("/proc/self/clear_refs").write_text("5")


def versions(base):
    libraries = [torch, transformers, peft]
    if base == "4-bit":
        import bitsandbytes

        libraries.append(bitsandbytes)
    return ", ".join(f"{library.__name__} {library.__version__}" for library in libraries)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--job", type=Path, required=True)
    parser.add_argument("--base", choices=["float32", "bfloat16", "4-bit"], required=True)
    parser.add_argument("--checkpointing", action="store_true")
    options = parser.parse_args()
    job = json.loads(options.job.read_text())
    device = job["device"]
    torch.set_num_threads(job["threads"])
    # peft asks transformers by names that it has renamed since.
    warnings.simplefilter("ignore", FutureWarning)
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()

    def clock():
        if device == "cuda":
            torch.cuda.synchronize()
        return time.perf_counter()

    def autocast():
        return nullcontext() if options.base == "float32" else torch.autocast(device, dtype=torch.bfloat16)

    start = clock()
    model = load(job, options.base, options.checkpointing)
    weights = [weight for weight in model.parameters() if weight.requires_grad]
    optimizer = torch.optim.AdamW(weights, lr=job["learningRate"], fused=True, **ADAMW)
    say(kind="loaded", version=versions(options.base), seconds=clock() - start, peakBytes=peak_bytes(device))
    forget_peak(device)
    for _ in range(job["updates"]):
        start, cpu = clock(), time.process_time()
        loss, norm = update(model, optimizer, job, autocast)
        say(kind="updated", loss=loss, gradientNorm=norm, seconds=clock() - start, cpuSeconds=time.process_time() - cpu)
    say(kind="ended", peakBytes=peak_bytes(device))


main()
