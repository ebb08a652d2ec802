"""What transformers computes with GPT-2: small files that crates/fornax-models/tests/parity.rs compares Fornax with.

usage: python scripts/parity_gpt2.py --vocab vocab.json --merges merges.txt
(needs torch, transformers, tokenizers; the tests need none of them. The two files are GPT-2's own, as published.)
"""
import argparse
import json
import pathlib
import shutil

import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, GPT2Tokenizer
from transformers.generation.logits_process import (
    LogitsProcessorList,
    MinPLogitsWarper,
    RepetitionPenaltyLogitsProcessor,
    TemperatureLogitsWarper,
    TopKLogitsWarper,
    TopPLogitsWarper,
)

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates/fornax-models/tests/fixtures"
CONFIG = dict(vocab_size=97, n_positions=80, n_embd=32, n_layer=3, n_head=4, bos_token_id=96, eos_token_id=96,
              attn_pdrop=0.0, embd_pdrop=0.0, resid_pdrop=0.0)


def model(**changes):
    """Random weights, none of them at its initial ones or zeros, so that every term counts."""
    m = GPT2LMHeadModel(GPT2Config(**{**CONFIG, **changes})).eval()
    with torch.no_grad():
        for name, p in m.named_parameters():
            # Large branches: the next token must depend on all tokens before, not on the last one alone.
            p += torch.randn_like(p) * (0.1 if "wte" in name else 0.3)
    return m


def tokens(*shape, high=CONFIG["vocab_size"]):
    return torch.randint(0, high, shape)


def parity():
    """Logits, 30 AdamW steps and greedy generation of one model."""
    m = model()
    folder(m, "gpt2")
    out = {"ids": tokens(2, 80)}
    with torch.no_grad():
        out["logits"] = m(out["ids"]).logits
        for i, length in enumerate([1, 7, 16]):
            prompt = tokens(1, length, high=96)
            whole = m.generate(prompt, attention_mask=torch.ones_like(prompt), max_new_tokens=64, do_sample=False,
                               eos_token_id=None, pad_token_id=0)
            out[f"prompt.{i}"], out[f"greedy.{i}"] = prompt[0], whole[0, length:]
    data = tokens(30, 2, 33)
    out["train.ids"], out["train.targets"] = data[:, :, :-1], data[:, :, 1:]
    m.train()
    adamw = torch.optim.AdamW(m.parameters(), lr=1e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    losses = []
    for ids, targets in zip(out["train.ids"], out["train.targets"]):
        loss = torch.nn.functional.cross_entropy(m(ids).logits.flatten(0, 1), targets.flatten())
        adamw.zero_grad()
        loss.backward()
        adamw.step()
        losses.append(loss.detach())
    out["train.losses"] = torch.stack(losses)
    save(out, "gpt2")


def layouts():
    """A smaller model in every layout that files come in, and its logits in the precision of the file."""
    m = model(n_embd=16, n_layer=2, vocab_size=41, n_positions=12, bos_token_id=40, eos_token_id=40)
    out = {"ids": tokens(2, 12, high=41)}

    def keep(name, m, **options):
        folder(m, f"layouts/{name}", **options)
        with torch.no_grad():
            out[name] = GPT2LMHeadModel.from_pretrained(OUT / "layouts" / name, dtype=torch.float32)(out["ids"]).logits

    keep("sharded", m, max_shard_size="12KB")
    keep("bare", m.transformer)
    keep("f16", m.half())
    keep("bf16", m.float().bfloat16())
    # The oldest files hold the causal masks, and the head beside the embedding it is.
    old = {k: v.float().contiguous().clone() for k, v in m.state_dict().items()}
    for i in range(2):
        old[f"transformer.h.{i}.attn.bias"] = torch.ones(1, 1, 12, 12).tril()
        old[f"transformer.h.{i}.attn.masked_bias"] = torch.tensor(-1e4)
    keep("old", m.float())
    save_file(old, OUT / "layouts/old/model.safetensors", metadata={"format": "pt"})
    save(out, "layouts/logits")


TEXTS = [
    "Hello, world!",
    "It's what we'd call a don't-care: they'll, I've, you're, I'm, HE'S.",
    "  leading, trailing  and   inner    spaces \t\ttabs\n\n\nlines \r\n ",
    "numbers 3.14159, 1,000,000 and 42nd; x_1 = y**2 // 7",
    "fn main() -> Result<()> {\n    println!(\"{}\", 1 << 7);\n}\n",
    "naïve café Ünïcödé ß ﬁ Ⅷ ½ ² ०१२",
    "日本語のテキスト、한국어, العربية, עברית, ไทย",
    "emoji 🦀🔥👩‍👩‍👧 zero\u200bwidth nbsp\u00a0here \u3000wide",
    "combining e\u0301 a\u0308, control \x01\x7f, replacement \ufffd",
    "<|endoftext|>between<|endoftext|><|endoftext|>and <|endoftext |> not",
    "",
    " ",
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
]


def tokenizers(vocab, merges):
    """Encodings by GPT-2's tokenizer and by small ones, whose files are kept."""
    gpt2 = GPT2Tokenizer(vocab, merges)
    cases = {"gpt2": [{"text": t, "ids": gpt2(t)["input_ids"]} for t in TEXTS]}
    split = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
    kinds = {
        "byte_level": pre_tokenizers.ByteLevel(add_prefix_space=False),
        "split": pre_tokenizers.Sequence([
            pre_tokenizers.Split(Regex(split), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]),
    }
    for name, pre in kinds.items():
        t = Tokenizer(models.BPE())
        t.pre_tokenizer, t.decoder = pre, decoders.ByteLevel()
        t.train_from_iterator(TEXTS * 3 + [pathlib.Path(__file__).read_text()], trainers.BpeTrainer(
            vocab_size=420, special_tokens=["<pad>", "<|endoftext|>"], show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
        t.save(str(OUT / f"tokenizer_{name}.json"), pretty=False)
        cases[name] = [{"text": x, "ids": t.encode(x, add_special_tokens=False).ids} for x in TEXTS]
    (OUT / "tokenizers.json").write_text(json.dumps(cases, ensure_ascii=True, indent=0) + "\n")


def sampling():
    """Probabilities that transformers would draw from."""
    logits = torch.randn(1, 60) * 2.5
    history = torch.tensor([[3, 3, 17, 42, 58]])
    out = {"logits": logits[0], "history": history[0]}
    settings = [
        dict(temperature=1.0, top_k=0, top_p=1.0, min_p=0.0, repetition_penalty=1.0),
        dict(temperature=0.7, top_k=10, top_p=1.0, min_p=0.0, repetition_penalty=1.0),
        dict(temperature=1.3, top_k=0, top_p=0.8, min_p=0.0, repetition_penalty=1.0),
        dict(temperature=1.0, top_k=0, top_p=1.0, min_p=0.1, repetition_penalty=1.0),
        dict(temperature=0.9, top_k=25, top_p=0.9, min_p=0.05, repetition_penalty=1.3),
    ]
    for i, s in enumerate(settings):
        steps = [RepetitionPenaltyLogitsProcessor(s["repetition_penalty"]), TemperatureLogitsWarper(s["temperature"])]
        steps += [TopKLogitsWarper(s["top_k"])] if s["top_k"] else []
        steps += [TopPLogitsWarper(s["top_p"])] if s["top_p"] < 1 else []
        steps += [MinPLogitsWarper(s["min_p"])] if s["min_p"] else []
        out[f"probabilities.{i}"] = LogitsProcessorList(steps)(history, logits.clone()).softmax(-1)[0]
        out[f"settings.{i}"] = torch.tensor([float(v) for v in s.values()], dtype=torch.float64)
    save(out, "sampling")


def folder(m, name, **options):
    path = OUT / name
    shutil.rmtree(path, ignore_errors=True)
    m.save_pretrained(path, **options)
    (path / "generation_config.json").unlink(missing_ok=True)


def save(tensors, name):
    save_file({k: v.detach().clone().contiguous() for k, v in tensors.items()}, str(OUT / f"{name}.safetensors"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--vocab", required=True)
    parser.add_argument("--merges", required=True)
    arguments = parser.parse_args()
    torch.manual_seed(0)
    OUT.mkdir(parents=True, exist_ok=True)
    parity()
    layouts()
    tokenizers(arguments.vocab, arguments.merges)
    sampling()
