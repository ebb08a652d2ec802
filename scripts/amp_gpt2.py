"""How far PyTorch's own mixed precision strays: crates/fornax-models/tests/precision.rs compares Fornax with this file.

usage: python scripts/amp_gpt2.py        (needs torch, transformers, safetensors; the tests need none of them)

One small GPT-2 with given first weights is trained three times on the same batches: in f32, under bf16 autocast, and
under f16 autocast with a GradScaler; and that on several sets of batches, because one run's rounding is luck: AdamW's
first steps go by the signs of gradients, and those of a few dozen tiny ones depend on the last bit (another loss scale
than a power of two moves the means by a quarter). The file has the first weights "param.PATH", "ids" and "targets" of
shape [sets, steps, batch, time], and the losses [sets, steps] of each precision. What is no luck is how far gradients
stray at given weights: "errors" of bf16 and f16 have, for every parameter in the order of names, the mean relative
distance of its gradient from that in f32, over the first batches of all sets.
"""
import pathlib

import torch
from safetensors.torch import save_file
from transformers import GPT2Config, GPT2LMHeadModel

OUT = pathlib.Path(__file__).resolve().parent.parent / "crates/fornax-models/tests/fixtures/amp.safetensors"
SETS, STEPS, BATCH, TIME, WORDS = 6, 40, 4, 32, 61
SCALE = 65536.0
# Batches of each set whose gradients are compared.
COMPARED = 4
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


def loss_of(model, x, y, dtype):
    with torch.autocast("cpu", dtype=dtype, enabled=dtype != torch.float32):
        logits = model(x).logits
        return torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), y.flatten())


def gradients(first, x, y, dtype):
    model = GPT2LMHeadModel(CONFIG)
    model.load_state_dict(first)
    model.train()
    (SCALE * loss_of(model, x, y, dtype)).backward()
    return {name.removeprefix("transformer."): p.grad for name, p in model.named_parameters()}


def errors(first, sets, dtype):
    """The mean relative distance of every parameter's gradient from that in f32, in the order of names."""
    batches = [(x, y) for ids, targets in sets for x, y in zip(ids[:COMPARED], targets[:COMPARED])]
    total = 0
    for x, y in batches:
        wide, narrow = (gradients(first, x, y, d) for d in (torch.float32, dtype))
        distances = [(narrow[name] - wide[name]).norm() / wide[name].norm() for name in sorted(wide)]
        total = total + torch.stack(distances) / len(batches)
    return total


def train(first, ids, targets, dtype):
    model = GPT2LMHeadModel(CONFIG)
    model.load_state_dict(first)
    model.train()
    adamw = torch.optim.AdamW(model.parameters(), lr=3e-3, betas=(0.9, 0.95), eps=1e-8, weight_decay=0.1)
    scaler = torch.amp.GradScaler("cpu", init_scale=SCALE, enabled=dtype == torch.float16)
    losses = []
    for x, y in zip(ids, targets):
        loss = loss_of(model, x, y, dtype)
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
out = {f"param.{name.removeprefix('transformer.')}": value for name, value in first.items() if name != "lm_head.weight"}
sets = [batches() for _ in range(SETS)]
out["ids"], out["targets"] = (torch.stack(part).to(torch.int32) for part in zip(*sets))
for name, dtype in [("f32", torch.float32), ("bf16", torch.bfloat16), ("f16", torch.float16)]:
    losses = torch.stack([train(first, ids, targets, dtype) for ids, targets in sets])
    out[f"losses.{name}"] = losses
    strays = (losses - out["losses.f32"]).abs() / out["losses.f32"]
    print(f"{name}: loss {losses[0, 0]:.4f} to {losses[0, -1]:.4f}, strays {strays.max():.2e} at most, "
          f"{strays.mean():.2e} on average ({', '.join(f'{s:.2e}' for s in strays.mean(1))})")
    if dtype != torch.float32:
        out[f"errors.{name}"] = errors(first, sets, dtype)
        print(f"{name}: gradients stray {out[f'errors.{name}'].mean():.3e} on average")
OUT.parent.mkdir(parents=True, exist_ok=True)
save_file({k: v.clone().contiguous() for k, v in out.items()}, str(OUT))
OUT.chmod(0o644)
