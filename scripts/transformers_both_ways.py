"""A model goes from transformers to Fornax and from Fornax to transformers, and gives the same logits in both.

usage: cargo build --release -p fornax-models --example gpt2_folder
       python scripts/transformers_both_ways.py target/release/examples/gpt2_folder      (needs torch, transformers)
"""
import pathlib
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoTokenizer, GPT2Config, GPT2LMHeadModel

TOLERANCE = 1e-4


def fornax_logits(folder, ids):
    with tempfile.TemporaryDirectory() as t:
        save_file({"ids": ids}, f"{t}/ids.safetensors")
        subprocess.run([sys.argv[1], "logits", folder, f"{t}/ids.safetensors", f"{t}/logits.safetensors"], check=True)
        return load_file(f"{t}/logits.safetensors")["logits"]


def compare(what, folder, vocabulary):
    ids = torch.randint(0, vocabulary, (2, 48))
    with torch.no_grad():
        theirs = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32).eval()(ids).logits
    error = (fornax_logits(folder, ids) - theirs).abs().max().item()
    print(f"{what:44s} largest difference {error:.1e} of logits up to {theirs.abs().max():.1f}")
    if not error <= TOLERANCE:
        sys.exit(f"{what}: more than {TOLERANCE}")


torch.manual_seed(0)
with tempfile.TemporaryDirectory() as temporary:
    for what, options, cast in [
        ("transformers -> Fornax", {}, torch.float32),
        ("transformers -> Fornax, in shards", {"max_shard_size": "300KB"}, torch.float32),
        ("transformers -> Fornax, f16", {}, torch.float16),
        ("transformers -> Fornax, bf16", {}, torch.bfloat16),
    ]:
        folder = str(pathlib.Path(temporary) / what.replace(" ", "_").replace(">", ""))
        config = GPT2Config(vocab_size=1000, n_positions=64, n_embd=128, n_layer=4, n_head=4, initializer_range=0.1,
                            bos_token_id=999, eos_token_id=999)
        GPT2LMHeadModel(config).to(cast).save_pretrained(folder, **options)
        compare(what, folder, 1000)

    folder = str(pathlib.Path(temporary) / "fornax")
    subprocess.run([sys.argv[1], "new", folder], check=True)
    compare("Fornax -> transformers", folder, 256)
    # And round: what transformers writes of it is again a model of Fornax.
    AutoModelForCausalLM.from_pretrained(folder).save_pretrained(folder + "_again")
    compare("Fornax -> transformers -> Fornax", folder + "_again", 256)
    text = "naïve 🦀 don't\n"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    if tokenizer(text)["input_ids"] != list(text.encode()) or tokenizer.decode(list(text.encode())) != text:
        sys.exit("transformers reads the tokenizer differently")
    print("transformers reads the tokenizer of Fornax")
