"""How far PyTorch's own mixed precision strays: crates/fornax-models/tests/precision.rs compares Fornax with this file.

usage: python scripts/amp_gpt2.py        (needs torch, transformers, safetensors; the tests need none of them)

One small GPT-2 with given first weights is trained three times on the same batches: in f32, under bf16 autocast, and
under f16 autocast with a GradScaler. The file has the first weights "param.PATH", "ids" and "targets" of shape
[steps, batch, time], and the losses of each run.
"""
import pathlib

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates/fornax-models/tests/fixtures/amp.safetensors"
STEPS, BATCH, TIME, WORDS = 60, 4, 32, 61
CONFIG = GPT2Config(vocab_size=WORDS, n_positions=TIME, n_embd=48, n_layer=3, n_head=4, attn_pdrop=0.0, embd_pdrop=0.0,
                    resid_pdrop=0.0, bos_token_id=None, eos_token_id=None)


def batches():
    """Something to learn: each word mostly decides the next one."""
    follows = torch.randperm(WORDS)
    words = torch.randint(0, WORDS, (STEPS, BATCH, TIME + 1))
    for t in range(1, TIME + 1):
        certain = torch.rand(STEPS, BATCH) < 0.8
        words[:, :, t] = torch.where(certain, follows[words[:, :, t - 1]], words[:, :, t])
    return words[:, :, :-1].contiguous(), words[:, :, 1:].contiguous()


def train(first, ids, targets, dtype):
    model = GPT2LMHeadModel(CONFIG)
    model.load_state_dict(first)
    model.train()
    adamw = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    scaler = torch.amp.GradScaler("cpu", enabled=dtype == torch.float16)
    losses = []
    for x, y in zip(ids, targets):
        with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
            logits = model(x).logits
            loss = torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), y.flatten())
        adamw.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(adamw)
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(adamw)
        scaler.update()
        losses.append(loss.detach())
    return torch.stack(losses)


torch.manual_seed(0)
first = GPT2LMHeadModel(CONFIG).state_dict()
ids, targets = batches()
out = {f"param.{name.removeprefix('transformer.')}": value.clone() for name, value in first.items() if name != "lm_head.weight"}
out.update(ids=ids.to(torch.int32), targets=targets.to(torch.int32))
for name, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16)]:
    out[f"losses.{name}"] = train(first, ids, targets, dtype)
    strays = (out[f"losses.{name}"] - out["losses.f32"]).abs() / out["losses.f32"]
    print(f"{name}: loss {out[f'losses.{name}'][0]:.4f} to {out[f'losses.{name}'][-1]:.4f}, strays "
          f"{strays.max():.2e} at most, {strays.mean():.2e} on average")
OUT.parent.mkdir(parents=True, exist_ok=True)
save_file({k: v.contiguous() for k, v in out.items()}, str(OUT))
