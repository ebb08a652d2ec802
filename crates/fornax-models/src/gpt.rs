//! A GPT: token and position embeddings, pre-norm transformer blocks, and the token embedding again as the head.

use fornax::nn::{Embedding, LayerNorm, Module, TransformerBlock, Visitor};
use fornax::{CrossEntropy, Device, Error, Reduction, Result, Tensor, scope};

/// The sizes of a model.
#[derive(Clone, Copy, Debug)]
pub struct GptConfig {
    /// How many tokens there are.
    pub vocabulary: usize,
    /// The longest sequence.
    pub context: usize,
    /// How many blocks.
    pub layers: usize,
    /// The width of the residual stream.
    pub width: usize,
    /// Attention heads; divides the width.
    pub heads: usize,
}

/// The model.
pub struct Gpt {
    /// Token embeddings, `[vocabulary, width]`; also the head.
    pub wte: Embedding,
    /// Position embeddings, `[context, width]`.
    pub wpe: Embedding,
    /// The blocks.
    pub h: Vec<TransformerBlock>,
    /// The last norm.
    pub ln_f: LayerNorm,
    names: Vec<String>,
}

impl Gpt {
    /// A model with PyTorch's initial values.
    pub fn new(config: GptConfig, device: &Device) -> Result<Gpt> {
        let GptConfig { vocabulary, context, layers, width, heads } = config;
        Ok(Gpt {
            wte: Embedding::new(vocabulary, width, device)?,
            wpe: Embedding::new(context, width, device)?,
            h: (0..layers)
                .map(|_| TransformerBlock::new(width, heads, true, device))
                .collect::<Result<_>>()?,
            ln_f: LayerNorm::new(width, device)?,
            names: (0..layers).map(|i| format!("h.{i}")).collect(),
        })
    }

    /// Token ids `[B, T]` to the logits of the next token `[B, T, vocabulary]`.
    pub fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let &[_, time] = ids.shape() else {
            return Err(Error::Shape {
                op: "Gpt",
                detail: format!("{:?} is not [batch, time]", ids.shape()),
            });
        };
        let mut x = scope("embed", || {
            let positions = self.wpe.weight.tensor().narrow(0, 0, time)?;
            self.wte.forward(ids)?.add(&positions) // (B, T, C)
        })?;
        for (name, block) in self.names.iter().zip(&self.h) {
            x = scope(name, || block.forward(&x))?;
        }
        let x = scope("ln_f", || self.ln_f.forward(&x))?;
        scope("head", || {
            let &[batch, time, width] = x.shape() else {
                return Err(Error::Internal("ln_f changed the rank".into()));
            };
            let logits = x.reshape(&[-1, width as isize])?.matmul(&self.wte.weight.tensor().t()?)?;
            logits.reshape(&[batch as isize, time as isize, -1])
        })
    }

    /// The mean cross-entropy of every token but the first, given those before it.
    pub fn loss(&self, ids: &Tensor) -> Result<Tensor> {
        let logits = self.forward(ids)?;
        let &[batch, time, _] = logits.shape() else {
            return Err(Error::Internal("logits have 3 axes".into()));
        };
        if time < 2 {
            return Err(Error::Shape {
                op: "Gpt::loss",
                detail: format!("{:?}: one token predicts none", ids.shape()),
            });
        }
        scope("loss", || {
            // The last position has nothing to predict: its target is ignored instead of cutting the logits.
            let none = Tensor::full(&[batch, 1], IGNORED, ids.dtype(), ids.device())?;
            let targets = Tensor::cat(&[&ids.narrow(1, 1, time - 1)?, &none], 1)?;
            let options =
                CrossEntropy { ignore_index: Some(IGNORED), reduction: Reduction::Sum, ..Default::default() };
            logits.cross_entropy_with(&targets, options)?.mul(1.0 / (batch * (time - 1)) as f64)
        })
    }
}

/// The target of positions that have none; no token has this id.
const IGNORED: i64 = -1;

impl Module for Gpt {
    fn visit(&self, v: &mut Visitor) {
        v.module("wte", &self.wte);
        v.module("wpe", &self.wpe);
        v.modules("h", &self.h);
        v.module("ln_f", &self.ln_f);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fornax::DType;
    use fornax::optim::{AdamW, Optimizer};

    #[test]
    fn a_small_gpt_learns_a_sequence() -> Result<()> {
        fornax::manual_seed(0);
        let device = Device::cpu();
        let config = GptConfig { vocabulary: 7, context: 8, layers: 1, width: 8, heads: 2 };
        let model = Gpt::new(config, &device)?;
        let ids = Tensor::from_slice(&[1i64, 2, 3, 4, 5, 6], &[1, 6], &device)?;
        assert_eq!(model.forward(&ids)?.shape(), [1, 6, 7]);
        let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, model.named_parameters())?;
        let mut losses = vec![];
        for _ in 0..10 {
            let loss = model.loss(&ids)?;
            optimizer.step(&loss.backward()?)?;
            losses.push(loss.item::<f32>()?);
        }
        assert!(losses[9] < 0.8 * losses[0], "{losses:?}");
        assert_eq!(model.named_parameters()[6].0, "h.0.attn.c_proj.weight");
        assert_eq!(model.parameters()[0].dtype(), DType::F32);
        assert!(model.loss(&ids.narrow(1, 0, 1)?).is_err() && model.forward(&ids.reshape(&[6])?).is_err());
        Ok(())
    }
}
