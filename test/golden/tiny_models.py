"""The tiny checkpoints and adapters: random weights, saved by transformers and peft."""

import json

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import (
    AutoModelForCausalLM, Gemma3ForCausalLM, Gemma3TextConfig, GenerationConfig, LlamaConfig, LlamaForCausalLM, MistralConfig, MistralForCausalLM, Phi3Config,
    Phi3ForCausalLM, Qwen2Config, Qwen2ForCausalLM, Qwen3Config, Qwen3ForCausalLM)

ALL_PROJECTIONS = ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
FUSED_PROJECTIONS = ["qkv_proj", "o_proj", "gate_up_proj", "down_proj"]


# ---- models ----


def randomise(model, seed, embedding_scale):
    """Weights with which every part matters: logits are spread out, attention is neither flat nor a single position, and
    what the layers add outweighs the token itself (else tied embeddings would repeat it)."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            noise = torch.randn(weight.shape, generator=generator)
            if name.endswith("norm.weight"):
                weight.copy_(norm_mean(model, name) + 0.2 * noise)
            elif name.endswith(".bias"):
                weight.copy_(0.5 * noise)
            elif "embed_tokens" in name or "lm_head" in name:
                weight.copy_(embedding_scale * noise)
            else:
                weight.copy_(noise * 1.5 / weight.shape[1] ** 0.5)


def norm_mean(model, name):
    """Gemma's norms multiply by 1 + weight. Those of what layers add let it outweigh the scaled embeddings, and the last one
    spreads the logits of small embeddings."""
    if model.config.model_type != "gemma3_text":
        return 1
    return 8 if "post_" in name else 3 if name == "model.norm.weight" else 0


def make_models(folder, stop_ids):
    """`stop_ids`: by model. With a tokenizer they are the end of a turn and the end of a text."""
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
        num_key_value_heads=2, max_position_embeddings=1024, tie_word_embeddings=False, bos_token_id=1,
        eos_token_id=stop_ids["qwen2-tiny-untied"][0],
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

    # Rotations for texts longer than the "original" ones, which are short here so that every kind of pair occurs in the sequences.
    model = LlamaForCausalLM(LlamaConfig(
        vocab_size=512, rms_norm_eps=1e-5, hidden_size=64, intermediate_size=160, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=1024, tie_word_embeddings=True, bos_token_id=1,
        eos_token_id=stop_ids["llama-tiny"], rope_parameters={
            "rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64}, **common))
    randomise(model, 4, 0.35)
    model.to(torch.bfloat16).save_pretrained(folder / "llama-tiny")

    model = MistralForCausalLM(MistralConfig(
        vocab_size=512, rms_norm_eps=1e-5, hidden_size=96, intermediate_size=128, num_hidden_layers=2, num_attention_heads=6,
        num_key_value_heads=3, head_dim=32, max_position_embeddings=1024, tie_word_embeddings=False, sliding_window=None,
        bos_token_id=1, eos_token_id=stop_ids["mistral-tiny"][0], rope_parameters={
            "rope_type": "yarn", "rope_theta": 10000.0, "factor": 16.0, "beta_fast": 8.0, "beta_slow": 1.0,
            "original_max_position_embeddings": 64}, **common))
    randomise(model, 5, 0.3)
    model.to(torch.float16).save_pretrained(folder / "mistral-tiny")

    model = Phi3ForCausalLM(Phi3Config(
        vocab_size=512, rms_norm_eps=1e-5, hidden_size=64, intermediate_size=128, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=1024, sliding_window=512, tie_word_embeddings=False, bos_token_id=1,
        pad_token_id=2, eos_token_id=stop_ids["phi3-tiny"][0], rope_parameters={"rope_type": "default", "rope_theta": 10000.0},
        **common))
    randomise(model, 6, 0.3)
    model.to(torch.bfloat16).save_pretrained(folder / "phi3-tiny")

    # As Phi-4-mini: three quarters of each head are rotated, with a factor for each pair. All texts are shorter than the original length.
    pairs = 24
    model = Phi3ForCausalLM(Phi3Config(
        vocab_size=512, rms_norm_eps=1e-5, hidden_size=128, intermediate_size=96, num_hidden_layers=2, num_attention_heads=2,
        num_key_value_heads=1, max_position_embeddings=4096, original_max_position_embeddings=512, sliding_window=4096,
        tie_word_embeddings=True, bos_token_id=1, pad_token_id=2, eos_token_id=stop_ids["phi4-tiny"][0], rope_parameters={
            "rope_type": "longrope", "rope_theta": 10000.0, "partial_rotary_factor": 0.75,
            "short_factor": [round(1 + 0.06 * pair, 2) for pair in range(pairs)],
            "long_factor": [round(1 + 0.9 * pair, 2) for pair in range(pairs)]}, **common))
    randomise(model, 8, 0.25)
    model.to(torch.bfloat16).save_pretrained(folder / "phi4-tiny")

    # The window is shorter than prompts and completions are, so that tokens leave it in each. PyTorch leaves the gradient of the
    # embedding of padding out, so that its token is none of those whose gradients are kept.
    model = Gemma3ForCausalLM(Gemma3TextConfig(
        vocab_size=512, rms_norm_eps=1e-5, hidden_size=64, intermediate_size=128, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=1, head_dim=32, query_pre_attn_scalar=24, max_position_embeddings=1024, sliding_window=12,
        layer_types=["sliding_attention", "full_attention", "sliding_attention"], bos_token_id=1, pad_token_id=500,
        eos_token_id=stop_ids["gemma3-tiny"], rope_parameters={
            "full_attention": {"rope_type": "linear", "rope_theta": 100000.0, "factor": 4.0},
            "sliding_attention": {"rope_type": "default", "rope_theta": 5000.0}}, **common))
    randomise(model, 7, 0.1)
    model.to(torch.bfloat16).save_pretrained(folder / "gemma3-tiny")


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
    make_adapter(models / "llama-tiny", folder, "llama-tiny-all", 14, r=4, lora_alpha=8, target_modules=ALL_PROJECTIONS)
    make_adapter(models / "phi3-tiny", folder, "phi3-tiny-all", 16, r=4, lora_alpha=8, target_modules=FUSED_PROJECTIONS)
    make_adapter(models / "phi4-tiny", folder, "phi4-tiny-all", 17, r=4, lora_alpha=8, target_modules=FUSED_PROJECTIONS)
    make_adapter(models / "gemma3-tiny", folder, "gemma3-tiny-all", 15, r=4, lora_alpha=8, target_modules=ALL_PROJECTIONS)
    return {"qwen2-tiny": ["qwen2-tiny-all", "qwen2-tiny-attention"], "qwen2-tiny-untied": [], "qwen3-tiny": ["qwen3-tiny-all"],
            "llama-tiny": ["llama-tiny-all"], "mistral-tiny": [], "phi3-tiny": ["phi3-tiny-all"],
            "phi4-tiny": ["phi4-tiny-all"],
            "gemma3-tiny": ["gemma3-tiny-all"]}


# ---- as the figures are computed ----


def load(folder):
    """Weights cast to float32, attention written out."""
    return AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32, attn_implementation="eager").eval()


def with_adapter(base, folder):
    model = PeftModel.from_pretrained(load(base), folder, is_trainable=True).eval()
    assert all(w.dtype == torch.float32 for w in model.parameters())
    return model
