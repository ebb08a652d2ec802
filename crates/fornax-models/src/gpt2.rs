//! GPT-2: token and position embeddings, pre-norm transformer blocks, and the token embedding again as the head.
//! Parameters have the names and layouts of transformers, so files go both ways as they are.

use crate::folder;
use fornax::nn::{Embedding, LayerNorm, Module, Parameter, Visitor};
use fornax::{AttentionOptions, DType, Device, Error, Result, Tensor, scope};
use serde_json::{Value, json};
use std::path::Path;

/// The sizes of a model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gpt2Config {
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
    /// Added to the variance in every norm.
    pub epsilon: f64,
    /// The token that ends a text, if there is one.
    pub end: Option<u32>,
}

/// The presets by name, smallest first. "tiny" reads bytes, the others GPT-2's tokens.
pub const PRESETS: [(&str, Gpt2Config); 4] = [
    ("tiny", Gpt2Config::new(256, 256, 4, 128, 4)),
    ("distilgpt2", Gpt2Config { end: Some(50256), ..Gpt2Config::new(50257, 1024, 6, 768, 12) }),
    ("gpt2", Gpt2Config { end: Some(50256), ..Gpt2Config::new(50257, 1024, 12, 768, 12) }),
    ("gpt2-medium", Gpt2Config { end: Some(50256), ..Gpt2Config::new(50257, 1024, 24, 1024, 16) }),
];

impl Gpt2Config {
    /// These sizes, with GPT-2's epsilon and no token that ends a text.
    pub const fn new(
        vocabulary: usize,
        context: usize,
        layers: usize,
        width: usize,
        heads: usize,
    ) -> Gpt2Config {
        Gpt2Config { vocabulary, context, layers, width, heads, epsilon: 1e-5, end: None }
    }

    /// One of [`PRESETS`].
    pub fn preset(name: &str) -> Result<Gpt2Config> {
        PRESETS.iter().find(|(known, _)| *known == name).map(|(_, config)| *config).ok_or_else(|| {
            let names: Vec<&str> = PRESETS.iter().map(|(name, _)| *name).collect();
            let detail = format!("there is no {name:?}; there are: {}", names.join(", "));
            Error::Argument { op: "preset", detail }
        })
    }

    /// Reads a `config.json`. What it asks for and this model does not have is an error.
    pub fn load(path: impl AsRef<Path>) -> Result<Gpt2Config> {
        let path = path.as_ref();
        let file = folder::read_json(path)?;
        let wrong = |detail: String| Error::Format { path: path.display().to_string(), detail };
        // Absent fields have transformers' defaults, which are those of gpt2 itself.
        let number = |name: &str, default: usize| match &file[name] {
            Value::Null => Ok(default),
            value => value
                .as_u64()
                .filter(|&n| n > 0)
                .map(|n| n as usize)
                .ok_or_else(|| wrong(format!("{name} is {value}, not a positive number"))),
        };
        let config = Gpt2Config {
            vocabulary: number("vocab_size", 50257)?,
            context: number("n_positions", 1024)?,
            layers: number("n_layer", 12)?,
            width: number("n_embd", 768)?,
            heads: number("n_head", 12)?,
            epsilon: file["layer_norm_epsilon"].as_f64().unwrap_or(1e-5),
            end: file["eos_token_id"].as_u64().map(|id| id as u32),
        };
        let known: [(&str, &[Value]); 6] = [
            ("model_type", &[json!("gpt2")]),
            ("activation_function", &[json!("gelu_new"), json!("gelu_pytorch_tanh")]),
            ("n_inner", &[json!(4 * config.width)]),
            ("tie_word_embeddings", &[json!(true)]),
            ("scale_attn_weights", &[json!(true)]),
            ("scale_attn_by_inverse_layer_idx", &[json!(false)]),
        ];
        for (name, values) in known {
            let have = &file[name];
            if !have.is_null() && !values.contains(have) {
                return Err(wrong(format!("{name} is {have}; Fornax's GPT-2 has {} only", values[0])));
            }
        }
        config.check().map_err(|error| wrong(error.to_string()))?;
        Ok(config)
    }

    /// Writes a `config.json` that transformers opens as `GPT2LMHeadModel`.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<()> {
        let file = json!({
            "model_type": "gpt2",
            "architectures": ["GPT2LMHeadModel"],
            "vocab_size": self.vocabulary,
            "n_positions": self.context,
            "n_ctx": self.context,
            "n_layer": self.layers,
            "n_embd": self.width,
            "n_head": self.heads,
            "n_inner": null,
            "layer_norm_epsilon": self.epsilon,
            "activation_function": "gelu_new",
            "initializer_range": INITIAL,
            "bos_token_id": self.end,
            "eos_token_id": self.end,
            "tie_word_embeddings": true,
            // Fornax trains without dropout.
            "attn_pdrop": 0.0, "embd_pdrop": 0.0, "resid_pdrop": 0.0,
            "dtype": "float32",
        });
        folder::write_json(path.as_ref(), &file)
    }

    fn check(&self) -> Result<()> {
        if self.heads == 0 || !self.width.is_multiple_of(self.heads) {
            let detail = format!("{} heads do not divide the width {}", self.heads, self.width);
            return Err(Error::Argument { op: "Gpt2", detail });
        }
        Ok(())
    }
}

/// The standard deviation of initial weights.
const INITIAL: f64 = 0.02;

fn normal(shape: &[usize], deviation: f64, device: &Device) -> Result<Parameter> {
    if deviation == 0.0 {
        return Parameter::new(&Tensor::zeros(shape, DType::F32, device)?);
    }
    Parameter::new(&Tensor::randn(shape, DType::F32, device)?.mul(deviation)?)
}

/// `y = x w + b`; transformers calls it Conv1D and stores the weight as `[inputs, outputs]`.
pub struct Conv1d {
    /// `[inputs, outputs]`.
    pub weight: Parameter,
    /// `[outputs]`.
    pub bias: Parameter,
}

impl Conv1d {
    fn new(inputs: usize, outputs: usize, deviation: f64, device: &Device) -> Result<Conv1d> {
        let bias = Parameter::new(&Tensor::zeros(&[outputs], DType::F32, device)?)?;
        Ok(Conv1d { weight: normal(&[inputs, outputs], deviation, device)?, bias })
    }

    /// `[B, T, inputs] -> [B, T, outputs]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let (weight, bias) = (self.weight.tensor(), self.bias.tensor());
        // All positions are rows of one product; a batched product would sum the weight's gradient over the batch.
        let y = x.reshape(&[-1, weight.shape()[0] as isize])?.matmul_add(&weight, &bias)?;
        y.reshape(&[x.shape()[0] as isize, x.shape()[1] as isize, -1])
    }
}

/// How queries look at keys and values, `[B, H, T, D]` each; called once a block, from the first to the last.
pub type Attend<'a> = dyn FnMut(&Tensor, &Tensor, &Tensor) -> Result<Tensor> + 'a;

/// Self-attention.
pub struct Attention {
    /// `width -> queries, keys, values`, one after the other.
    pub c_attn: Conv1d,
    /// `width -> width`.
    pub c_proj: Conv1d,
    heads: usize,
}

impl Attention {
    /// `[B, T, C] -> [B, T, C]`.
    pub fn forward(&self, x: &Tensor, attend: &mut Attend) -> Result<Tensor> {
        let shape = [x.shape()[0] as isize, x.shape()[1] as isize, x.shape()[2] as isize];
        let qkv = scope("c_attn", || self.c_attn.forward(x))?; // (B, T, 3 C)
        let qkv = qkv.reshape(&[shape[0], shape[1], 3, self.heads as isize, -1])?; // (B, T, 3, H, D)
        let part = |i| qkv.narrow(2, i, 1)?.squeeze(2)?.permute(&[0, 2, 1, 3]); // (B, H, T, D)
        let y = attend(&part(0)?, &part(1)?, &part(2)?)?; // (B, H, T, D)
        let y = y.permute(&[0, 2, 1, 3])?.reshape(&shape)?; // (B, T, C)
        scope("c_proj", || self.c_proj.forward(&y))
    }
}

/// Up, gelu (tanh form), down.
pub struct Mlp {
    /// `width -> 4 width`.
    pub c_fc: Conv1d,
    /// `4 width -> width`.
    pub c_proj: Conv1d,
}

impl Mlp {
    /// `[B, T, C] -> [B, T, C]`.
    pub fn forward(&self, x: &Tensor) -> Result<Tensor> {
        let hidden = scope("c_fc", || self.c_fc.forward(x)?.gelu())?; // (B, T, 4 C)
        scope("c_proj", || self.c_proj.forward(&hidden))
    }
}

/// `x + attn(ln_1(x))`, then `x + mlp(ln_2(x))`.
pub struct Block {
    /// Before attention.
    pub ln_1: LayerNorm,
    /// Positions look at those before them.
    pub attn: Attention,
    /// Before the perceptron.
    pub ln_2: LayerNorm,
    /// Each position for itself.
    pub mlp: Mlp,
}

impl Block {
    fn new(config: &Gpt2Config, deviation: f64, device: &Device) -> Result<Block> {
        let (width, heads) = (config.width, config.heads);
        // Every block adds two branches to the residual stream; this keeps its variance independent of the depth.
        let residual = deviation / (2.0 * config.layers as f64).sqrt();
        let conv = |inputs, outputs, deviation| Conv1d::new(inputs, outputs, deviation, device);
        Ok(Block {
            ln_1: norm(config, device)?,
            attn: Attention {
                c_attn: conv(width, 3 * width, deviation)?,
                c_proj: conv(width, width, residual)?,
                heads,
            },
            ln_2: norm(config, device)?,
            mlp: Mlp { c_fc: conv(width, 4 * width, deviation)?, c_proj: conv(4 * width, width, residual)? },
        })
    }

    /// `[B, T, C] -> [B, T, C]`.
    pub fn forward(&self, x: &Tensor, attend: &mut Attend) -> Result<Tensor> {
        let x = x.add(&scope("attn", || self.attn.forward(&self.ln_1.forward(x)?, attend))?)?;
        x.add(&scope("mlp", || self.mlp.forward(&self.ln_2.forward(&x)?))?)
    }
}

fn norm(config: &Gpt2Config, device: &Device) -> Result<LayerNorm> {
    Ok(LayerNorm { eps: config.epsilon, ..LayerNorm::new(config.width, device)? })
}

/// The model.
pub struct Gpt2 {
    /// Its sizes.
    pub config: Gpt2Config,
    /// Token embeddings, `[vocabulary, width]`; also the head.
    pub wte: Embedding,
    /// Position embeddings, `[context, width]`.
    pub wpe: Embedding,
    /// The blocks.
    pub h: Vec<Block>,
    /// The last norm.
    pub ln_f: LayerNorm,
    /// Whether blocks are computed again in the backward pass instead of being kept: less memory for more work.
    pub recompute: bool,
    names: Vec<String>,
}

impl Gpt2 {
    /// A model with GPT-2's initial values, from this thread's random numbers.
    pub fn new(config: Gpt2Config, device: &Device) -> Result<Gpt2> {
        Gpt2::with_deviation(config, INITIAL, device)
    }

    fn with_deviation(config: Gpt2Config, deviation: f64, device: &Device) -> Result<Gpt2> {
        config.check()?;
        let embedding = |count| -> Result<Embedding> {
            Ok(Embedding { weight: normal(&[count, config.width], deviation, device)? })
        };
        Ok(Gpt2 {
            wte: embedding(config.vocabulary)?,
            wpe: embedding(config.context)?,
            h: (0..config.layers).map(|_| Block::new(&config, deviation, device)).collect::<Result<_>>()?,
            ln_f: norm(&config, device)?,
            recompute: false,
            names: (0..config.layers).map(|i| format!("h.{i}")).collect(),
            config,
        })
    }

    /// Token ids `[B, T]` to the logits of the next token `[B, T, vocabulary]`.
    pub fn forward(&self, ids: &Tensor) -> Result<Tensor> {
        let &[_, time] = ids.shape() else {
            let detail = format!("{:?} is not [batch, time]", ids.shape());
            return Err(Error::Shape { op: "Gpt2", detail });
        };
        if time > self.config.context {
            let detail = format!("{time} tokens; the model reads {} at most", self.config.context);
            return Err(Error::Shape { op: "Gpt2", detail });
        }
        let positions = self.wpe.weight.tensor().narrow(0, 0, time)?;
        let causal = AttentionOptions { causal: true, ..Default::default() };
        let x = self.blocks(ids, &positions, &mut |q, k, v| q.scaled_dot_product_attention(k, v, &causal))?;
        self.head(&x)
    }

    /// Token ids `[B, T]` and the embeddings of their positions `[.., T, C]`, through all blocks: `[B, T, C]`.
    pub fn blocks(&self, ids: &Tensor, positions: &Tensor, attend: &mut Attend) -> Result<Tensor> {
        let mut x = scope("embed", || self.wte.forward(ids)?.add(positions))?;
        for (name, block) in self.names.iter().zip(&self.h) {
            x = scope(name, || match self.recompute {
                true => fornax::checkpoint(|| block.forward(&x, attend)),
                false => block.forward(&x, attend),
            })?;
        }
        Ok(x)
    }

    /// The logits `[B, T, vocabulary]` of what the blocks gave.
    pub fn head(&self, x: &Tensor) -> Result<Tensor> {
        let x = scope("ln_f", || self.ln_f.forward(x))?;
        scope("head", || {
            let rows = x.reshape(&[-1, self.config.width as isize])?;
            let logits = rows.matmul(&self.wte.weight.tensor().t()?)?;
            logits.reshape(&[x.shape()[0] as isize, x.shape()[1] as isize, -1])
        })
    }

    /// The mean cross-entropy of `targets` `[B, T]`: what follows each of `ids` `[B, T]`.
    pub fn loss(&self, ids: &Tensor, targets: &Tensor) -> Result<Tensor> {
        let logits = self.forward(ids)?;
        scope("loss", || logits.cross_entropy(targets))
    }

    /// Reads a folder of transformers: `config.json` and `model.safetensors`, or shards with their index.
    /// Weights of any float type become f32.
    pub fn load(dir: impl AsRef<Path>, device: &Device) -> Result<Gpt2> {
        let dir = dir.as_ref();
        let model = Gpt2::with_deviation(Gpt2Config::load(dir.join("config.json"))?, 0.0, device)?;
        let ours = |name: &str| {
            let name = name.strip_prefix(PREFIX).unwrap_or(name);
            // The head is the token embedding; older files also hold the causal mask of every block.
            let derived = name == "lm_head.weight"
                || name.ends_with(".attn.bias")
                || name.ends_with(".attn.masked_bias");
            (!derived).then(|| name.to_string())
        };
        folder::load_weights(dir, &model, ours)?;
        Ok(model)
    }

    /// Writes a folder that transformers opens: `config.json` and `model.safetensors`, each of them whole or not at
    /// all.
    pub fn save(&self, dir: impl AsRef<Path>) -> Result<()> {
        let dir = dir.as_ref();
        folder::create(dir)?;
        self.config.save(dir.join("config.json"))?;
        folder::save_weights(dir, self, PREFIX)
    }
}

/// What transformers puts before the names of a model with a head.
const PREFIX: &str = "transformer.";

impl Module for Conv1d {
    fn visit(&self, v: &mut Visitor) {
        v.parameter("weight", &self.weight);
        v.parameter("bias", &self.bias);
    }
}

impl Module for Attention {
    fn visit(&self, v: &mut Visitor) {
        v.module("c_attn", &self.c_attn);
        v.module("c_proj", &self.c_proj);
    }
}

impl Module for Mlp {
    fn visit(&self, v: &mut Visitor) {
        v.module("c_fc", &self.c_fc);
        v.module("c_proj", &self.c_proj);
    }
}

impl Module for Block {
    fn visit(&self, v: &mut Visitor) {
        v.module("ln_1", &self.ln_1);
        v.module("attn", &self.attn);
        v.module("ln_2", &self.ln_2);
        v.module("mlp", &self.mlp);
    }
}

impl Module for Gpt2 {
    fn visit(&self, v: &mut Visitor) {
        v.module("wte", &self.wte);
        v.module("wpe", &self.wpe);
        v.modules("h", &self.h);
        v.module("ln_f", &self.ln_f);
    }
}
