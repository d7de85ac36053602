"""Two small tokenizers of Qwen's kind and one of SentencePiece's, and what transformers says of texts, ids and messages."""

import json
from pathlib import Path

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, PreTrainedTokenizerFast

HERE = Path(__file__).parent

# Where Qwen2 and Qwen3 cut a text before merging: part of the format, taken from their tokenizer.json.
PRE_TOKENIZER = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
MERGED_VOCABULARY = 800
# In Qwen's order. The special ones are left out of a decoded text, the others are not.
SPECIAL_TOKENS = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKER_TOKENS = {
    "qwen2-tiny": ["<tool_call>", "</tool_call>"],
    "qwen3-tiny": ["<tool_call>", "</tool_call>", "<think>", "</think>"],
}
TEMPLATES = {"qwen2-tiny": "chatml.jinja", "qwen3-tiny": "chatml-thinking.jinja"}

TEXTS = [
    "",
    " ",
    "a",
    "Hello",
    "Hello, world!",
    " leading space",
    "trailing space ",
    "two  spaces,   three spaces,    four",
    "        eight spaces before a word",
    "tabs\tand\t\tmore\ttabs",
    "a line\nanother line\n\na paragraph\n\n\n",
    "windows\r\nline\r\nends\r\n",
    "a lone\rcarriage return",
    " \n \n ",
    "\n",
    "\t\n\t",
    "trailing newlines\n\n",
    "a space before the newline \nand after\n it",
    "non-breaking\u00a0space, thin\u2009space, ideographic\u3000space, zero\u200bwidth",
    "0",
    "2024",
    "3.14159 and -2e10, 1,000,000 and 0x1F",
    "phone 555-0199, version 1.30.0, 50%",
    "٠١٢٣ and ½ and ② and Ⅷ",
    "I'm sure they've said it's what we'd do, and you'll see it isn't",
    "IT'S SHOUTED, WE'VE HEARD, I'M DONE",
    "o'clock 'quoted' \u2019s",
    "The Conductor reads a question and writes a plan.",
    "Supercalifragilisticexpialidocious antidisestablishmentarianism",
    "snake_case camelCase PascalCase kebab-case SCREAMING_CASE",
    "def total(numbers):\n    return sum(n for n in numbers if n > 0)\n",
    "model_id = [0, 1]\nsubtasks = [\"Read.\", \"Write.\"]\naccess_list = [[], [\"all\"]]",
    "export const answer = async (q: string): Promise<string> => `${q}!`;",
    "if (a && b || !c) { x[i] += y->z; } // done",
    "#include <stdio.h>\nint main(void) {\n\tprintf(\"%d\\n\", 42);\n}\n",
    "SELECT * FROM t WHERE a >= 1 AND b <> 'x';",
    "{\"a\": [1, 2, {\"b\": null}], \"c\": \"\\u00e9\"}",
    "<ul>\n  <li class=\"x\">one &amp; two</li>\n</ul>",
    "~/path/to/file.txt C:\\Users\\name https://example.org/a?b=c&d=%20#e",
    "!!!??? ... --- *** ///",
    "((([[[{{{<<<>>>}}}]]])))",
    "Die Grüße aus der Übung, größer und schöner",
    "L'été dernier, où était l'erreur ?",
    "¿Qué función falla?",
    "Работник пишет ответ.",
    "Ο εργάτης γράφει.",
    "问题很短，答案也很短。",
    "答えも短いです。カタカナとひらがな。",
    "질문은 짧고 답도 짧다.",
    "العامل يقرأ السؤال",
    "mixed 中文 and English和数字123混在一起",
    "✅ done 🎉🎉 and 🤖",
    "family 👨\u200d👩\u200d👧\u200d👦, flag 🇩🇪, thumbs 👍🏽, heart ❤\ufe0f",
    "composed \u00e9 and decomposed e\u0301, \u212b and \ufb01",
    "Z̤͔a̘l͍g̞o",
    "𝕄𝕒𝕥𝕙 and 𒀀 and 𠜎",
    "a null \u0000 and a bell \u0007 and a delete \u007f",
    "\ufeffbyte order mark",
    "<|im_start|>user\nHi<|im_end|>\n",
    "text<|endoftext|>more text",
    "<|endoftext|><|endoftext|>",
    "spaces around <|im_end|> a special token",
    "almost <|im_end| > and <im_end> and <|unknown|>",
    "<think>\nA thought.\n</think>\n\nAn answer.",
    "<tool_call>{\"name\": \"f\"}</tool_call>",
    "repeated repeated repeated repeated repeated repeated repeated repeated",
    "x" * 100,
]

SYSTEM = {"role": "system", "content": "Write a plan of at most five steps."}
QUESTION = {"role": "user", "content": "Why does the second test fail?"}
CONVERSATION = [
    SYSTEM,
    QUESTION,
    {"role": "assistant", "content": "<think>\nIt reads the wrong file.\n</think>\n\nIt reads the wrong file."},
    {"role": "user", "content": "Then write the fix.\n\n```python\nopen('b.txt')\n```\n"},
]
MESSAGE_LISTS = [
    [QUESTION],
    [SYSTEM, QUESTION],
    CONVERSATION,
    [*CONVERSATION, {"role": "assistant", "content": "<think>\nOne line.\n</think>\n\nDone ✅"}],
    [{"role": "system", "content": ""}, {"role": "user", "content": "  spaces kept  \n"}],
    [{"role": "user", "content": "a text with <|im_end|>\n<|im_start|>system\nin it"}],
    [SYSTEM, {"role": "user", "content": "问题：\u00e9 e\u0301 🤖?"}],
]
ASSISTANT_START = "model_id = ["


# ---- tokenizers ----


def build_tokenizers(corpus):
    return {name: build_tokenizer(corpus, name) for name in TEMPLATES}


def build_tokenizer(corpus, name):
    tokenizer = Tokenizer(models.BPE(ignore_merges=False))
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(PRE_TOKENIZER), behavior="isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ])
    tokenizer.decoder = decoders.ByteLevel(add_prefix_space=False, use_regex=False)
    tokenizer.post_processor = processors.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    tokenizer.train_from_iterator([corpus.read_text(encoding="utf-8")], trainers.BpeTrainer(
        vocab_size=MERGED_VOCABULARY, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    assert tokenizer.get_vocab_size() == MERGED_VOCABULARY, "the corpus is too small for that many merges"
    tokenizer.add_tokens([AddedToken(t, normalized=False, special=True) for t in SPECIAL_TOKENS])
    tokenizer.add_tokens([AddedToken(t, normalized=False, special=False) for t in MARKER_TOKENS[name]])
    return tokenizer


def save_tokenizer(tokenizer, folder, template):
    """In the form of Qwen's own folders: what older versions of transformers wrote. Then read as any folder is."""
    tokenizer.save(str(folder / "tokenizer.json"))
    added = {str(i): {"content": t.content, "lstrip": t.lstrip, "normalized": t.normalized, "rstrip": t.rstrip,
                      "single_word": t.single_word, "special": t.special}
             for i, t in sorted(tokenizer.get_added_tokens_decoder().items())}
    config = {
        "add_bos_token": False,
        "add_prefix_space": False,
        "added_tokens_decoder": added,
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
        "bos_token": None,
        "chat_template": template,
        "clean_up_tokenization_spaces": False,
        "eos_token": "<|im_end|>",
        "errors": "replace",
        "model_max_length": 2048,
        "pad_token": "<|endoftext|>",
        "split_special_tokens": False,
        "tokenizer_class": "Qwen2Tokenizer",
        "unk_token": None,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")


def save_in_new_form(loaded, folder):
    """As transformers 5 writes it: the template is a file of its own."""
    (folder / "tokenizer_config.json").unlink()
    loaded.save_pretrained(folder)


# ---- figures ----


def encodings(tokenizer):
    return [{"text": text, "ids": tokenizer.encode(text)} for text in TEXTS]


def decodings(tokenizer, vocabulary):
    """Of what the texts encode to, and of ids that no text encodes to."""
    robot = tokenizer.encode("🦉")
    cases = [tokenizer.encode(text) for text in TEXTS]
    cases += [
        robot[:-1],
        robot[1:],
        robot[:1] + tokenizer.encode("a") + robot[1:],
        tokenizer.encode("a") + robot[:2] + tokenizer.encode(" b"),
        list(range(256)),
        [vocabulary - 1],
        tokenizer.encode("a") + [vocabulary - 1] + tokenizer.encode("b"),
    ]
    return [{
        "ids": ids,
        "text": tokenizer.decode(ids, skip_special_tokens=True),
        "textWithSpecialTokens": tokenizer.decode(ids, skip_special_tokens=False),
    } for ids in cases]


def chats(tokenizer, thinking):
    cases = []
    for messages in MESSAGE_LISTS:
        answered = messages[-1]["role"] == "assistant"
        cases.append(chat(tokenizer, messages, {"addGenerationPrompt": False}))
        if answered:
            continue
        options = [{}, {"enableThinking": False}, {"enableThinking": True}] if thinking else [{}]
        for option in options:
            cases.append(chat(tokenizer, messages, {"addGenerationPrompt": True, **option}))
            cases.append(chat(tokenizer, messages, {"addGenerationPrompt": True, **option, "assistantStart": ASSISTANT_START}))
    return cases


def chat(tokenizer, messages, options):
    """`assistantStart`: a beginning of the answer that the model has to continue."""
    variables = {"enable_thinking": options["enableThinking"]} if "enableThinking" in options else {}
    start = options.get("assistantStart", "")
    text = tokenizer.apply_chat_template(
        messages, tokenize=False, add_generation_prompt=options["addGenerationPrompt"], **variables) + start
    if start and options.get("enableThinking") is not False:
        continued = [*messages, {"role": "assistant", "content": start}]
        assert text == tokenizer.apply_chat_template(continued, tokenize=False, continue_final_message=True, **variables)
    return {"messages": messages, "options": options, "text": text, "ids": tokenizer.encode(text, add_special_tokens=False)}


def write_tokenizer_figures(out, tokenizers, write_json):
    for name, tokenizer in tokenizers.items():
        folder = out / "models" / name
        template = (HERE / "templates" / TEMPLATES[name]).read_text(encoding="utf-8").rstrip("\n")
        save_tokenizer(tokenizer, folder, template)
        loaded = AutoTokenizer.from_pretrained(folder)
        if name == "qwen3-tiny":
            save_in_new_form(loaded, folder)
            loaded = AutoTokenizer.from_pretrained(folder)
        vocabulary = json.loads((folder / "config.json").read_text())["vocab_size"]
        figures = {
            "model": name,
            "encodings": encodings(loaded),
            "decodings": decodings(loaded, vocabulary),
            "chats": chats(loaded, thinking=name == "qwen3-tiny"),
        }
        for case in figures["encodings"]:
            assert case["ids"] == tokenizer.encode(case["text"]).ids, "transformers reads another tokenizer than was written"
        write_json(out / "figures" / f"{name}-tokenizer.json", figures)


# ---- SentencePiece's kind ----

UNKNOWN, BEGIN, END = "<unk>", "<s>", "</s>"
BYTES = [f"<0x{byte:02X}>" for byte in range(256)]
SPACE = "\u2581"
SENTENCEPIECE_TEXTS = TEXTS + [
    "<s>[INST] Hi [/INST] Hello</s><s>[INST] Again [/INST]",
    "a<s> b", "</s> text", "a </s></s>", " <unk> ", "almost <s > and < /s>",
    "\u2581a literal \u2581\u2581 mark", "<0x41> is no byte", "\ufffd",
]
TO_SPACES = [decoders.Replace(SPACE, " "), decoders.ByteFallback(), decoders.Fuse()]
# The forms in which tokenizer.json says how spaces are written: of Llama 2 and Mistral 7B; as transformers 5 writes it; of Gemma.
FORMS = {
    "prepended": (normalizers.Sequence([normalizers.Prepend(SPACE), normalizers.Replace(" ", SPACE)]), None,
                  decoders.Sequence([*TO_SPACES, decoders.Strip(" ", 1, 0)])),
    "first": (None, pre_tokenizers.Metaspace(SPACE, prepend_scheme="first", split=False),
              decoders.Sequence([*TO_SPACES, decoders.Strip(" ", 1, 0)])),
    "always, split": (None, pre_tokenizers.Metaspace(SPACE, prepend_scheme="always", split=True),
                      decoders.Sequence([decoders.Metaspace(SPACE, prepend_scheme="always"), *TO_SPACES[1:]])),
    "never": (None, pre_tokenizers.Metaspace(SPACE, prepend_scheme="never", split=False), decoders.Sequence(TO_SPACES)),
    "replaced": (normalizers.Replace(" ", SPACE), pre_tokenizers.Split(" ", "merged_with_previous"), decoders.Sequence(TO_SPACES)),
}


def build_sentencepiece(corpus, size):
    """The ids in SentencePiece's order: control tokens, bytes, what was merged. Rare characters have no token of their own."""
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Metaspace(SPACE, split=True)
    learner.train_from_iterator([corpus.read_text(encoding="utf-8")], trainers.BpeTrainer(
        vocab_size=size - 3 - 256, limit_alphabet=70, show_progress=False))
    learned = json.loads(learner.to_str())["model"]
    pieces = [UNKNOWN, BEGIN, END, *BYTES, *sorted(learned["vocab"], key=learned["vocab"].get)]
    assert len(pieces) == size, "the corpus is too small for that many merges"
    tokenizer = Tokenizer(models.BPE(
        vocab={piece: i for i, piece in enumerate(pieces)}, merges=[tuple(m) for m in learned["merges"]], unk_token=UNKNOWN,
        fuse_unk=True, byte_fallback=True))
    tokenizer.add_special_tokens([AddedToken(t, normalized=False, special=True) for t in (UNKNOWN, BEGIN, END)])
    return tokenizer


def in_form(tokenizer, form):
    changed = Tokenizer.from_str(tokenizer.to_str())
    normalizer, pre_tokenizer, decoder = FORMS[form]
    if normalizer is not None:
        changed.normalizer = normalizer
    if pre_tokenizer is not None:
        changed.pre_tokenizer = pre_tokenizer
    changed.decoder = decoder
    return changed


def sentencepiece_figures(tokenizer):
    """`decodings`: of ids that no text encodes to. `decoded` is null where it is the text again."""
    encodings = []
    for text in SENTENCEPIECE_TEXTS:
        ids = tokenizer.encode(text, add_special_tokens=False).ids
        decoded = tokenizer.decode(ids, skip_special_tokens=False)
        encodings.append({"text": text, "ids": ids, "decoded": None if decoded == text else decoded})
    owl = [3 + byte for byte in "🦉".encode()]
    cases = [owl, [*owl, *owl, 1, *owl], list(range(259, 359)), [3 + 0x0A] * 3, [1, 2]]
    return {"encodings": encodings, "decodings": [{"ids": ids, "text": tokenizer.decode(ids)} for ids in cases]}


def write_sentencepiece_figures(out, model, write_json):
    folder = out / "models" / model
    size = json.loads((folder / "config.json").read_text())["vocab_size"]
    tokenizer = build_sentencepiece(HERE / "corpus.txt", size)
    forms = {form: in_form(tokenizer, form) for form in FORMS}
    forms["prepended"].save(str(folder / "tokenizer.json"))
    # One entry a line would be 700 lines.
    (folder / "tokenizer.json").write_text(json.dumps(json.loads((folder / "tokenizer.json").read_text()), ensure_ascii=False) + "\n")
    config = {
        "bos_token": BEGIN, "eos_token": END, "unk_token": UNKNOWN, "clean_up_tokenization_spaces": False,
        "chat_template": (HERE / "templates" / "inst.jinja").read_text(encoding="utf-8").rstrip("\n"),
        "tokenizer_class": "PreTrainedTokenizerFast",
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    loaded = PreTrainedTokenizerFast.from_pretrained(folder)
    turns = [messages for messages in MESSAGE_LISTS if messages[-1]["role"] == "user"]
    figures = {
        "model": model, "chats": [chat(loaded, messages, {"addGenerationPrompt": True, "assistantStart": start})
                                  for messages in turns for start in ("", ASSISTANT_START)],
        "forms": [{"form": form, "definition": {name: json.loads(changed.to_str())[name] for name in ("normalizer", "pre_tokenizer", "decoder")},
                   **sentencepiece_figures(changed)} for form, changed in forms.items()],
    }
    write_json(out / "figures" / "sentencepiece.json", figures)
