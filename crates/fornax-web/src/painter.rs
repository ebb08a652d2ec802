//! A network that learns a picture: from the place of a pixel it says the colour. What it has learnt is painted while it
//! learns, so one can watch.

use crate::thrown;
use fornax::nn::{Linear, Module, Visitor};
use fornax::optim::{AdamW, Optimizer};
use fornax::{DType, Device, Pending, Result, Tensor, no_grad};
use wasm_bindgen::prelude::*;

/// Waves of the places that the network is given; without them it learns only blurs.
const WAVES: usize = 64;
/// The width of the hidden layers.
const HIDDEN: usize = 128;
/// Pixels of a step, at most; and not more than an eighth of the picture.
const BATCH: usize = 4096;

struct Network {
    layers: [Linear; 4],
}

impl Network {
    fn new(device: &Device) -> Result<Network> {
        let layer = |from, to| Linear::new(from, to, device);
        Ok(Network {
            layers: [
                layer(2 * WAVES, HIDDEN)?,
                layer(HIDDEN, HIDDEN)?,
                layer(HIDDEN, HIDDEN)?,
                layer(HIDDEN, 3)?,
            ],
        })
    }

    fn forward(&self, features: &Tensor) -> Result<Tensor> {
        let [first, second, third, last] = &self.layers;
        let x = first.forward(features)?.gelu()?;
        let x = second.forward(&x)?.gelu()?;
        last.forward(&third.forward(&x)?.gelu()?)?.sigmoid()
    }
}

impl Module for Network {
    fn visit(&self, v: &mut Visitor) {
        for (i, layer) in self.layers.iter().enumerate() {
            v.module(&i.to_string(), layer);
        }
    }
}

/// Trains on a picture. All of it stays on the device; the loss comes a step late, so that nothing waits.
#[wasm_bindgen]
pub struct Painter {
    device: Device,
    network: Network,
    optimizer: Optimizer<AdamW>,
    /// The features of all pixels.
    features: Tensor,
    /// Their colours.
    colours: Tensor,
    last: Option<Pending<f32>>,
}

impl Painter {
    async fn new(pixels: &[u8], width: usize, height: usize, device: &str) -> Result<Painter> {
        let device = match device {
            "" => Device::best_async().await?,
            name => Device::open_async(name).await?,
        };
        fornax::manual_seed(1);
        let count = width * height;
        let colours = Tensor::from_slice(pixels, &[count, 4], &device)?;
        let colours = colours.narrow(1, 0, 3)?.to_dtype(DType::F32)?.div(255.0)?;
        let along = |n: usize| Tensor::linspace(-1.0, 1.0, n, DType::F32, &device);
        let x = along(width)?.unsqueeze(0)?.expand(&[height, width])?;
        let y = along(height)?.unsqueeze(1)?.expand(&[height, width])?;
        let places = Tensor::stack(&[&x, &y], 2)?.reshape(&[count as isize, 2])?;
        let waves = places.matmul(&Tensor::randn(&[2, WAVES], DType::F32, &device)?.mul(10.0)?)?;
        let features = Tensor::cat(&[&waves.sin()?, &waves.cos()?], 1)?;
        fornax::eval(&[&colours, &features])?;
        let network = Network::new(&device)?;
        let rule = AdamW { weight_decay: 0.0, ..Default::default() };
        let optimizer = Optimizer::new(rule, 2e-3, network.named_parameters())?;
        Ok(Painter { device, network, optimizer, features, colours, last: None })
    }

    /// One step on some pixels; gives the loss of the step before.
    async fn train(&mut self) -> Result<Option<f32>> {
        let count = self.colours.shape()[0];
        let chosen =
            Tensor::randint(0, count as i64, &[BATCH.min(count / 8).max(1)], DType::I64, &self.device)?;
        let features = self.features.index_select(0, &chosen)?;
        let colours = self.colours.index_select(0, &chosen)?;
        let loss = self.network.forward(&features)?.mse_loss(&colours)?;
        self.optimizer.step(&loss.backward()?)?;
        match self.last.replace(loss.item_later()?) {
            Some(last) => last.await.map(Some),
            None => Ok(None),
        }
    }

    async fn picture(&self) -> Result<Vec<u8>> {
        let colours = no_grad(|| self.network.forward(&self.features))?.mul(255.0)?.round()?;
        let opaque = Tensor::full(&[self.colours.shape()[0], 1], 255.0, DType::F32, &self.device)?;
        Tensor::cat(&[&colours, &opaque], 1)?.to_dtype(DType::U8)?.to_vec_async().await
    }
}

#[wasm_bindgen]
impl Painter {
    /// A painter of a picture, four bytes a pixel. `device` is a name of Fornax's, or empty for the best there is.
    pub async fn open(
        pixels: Vec<u8>,
        width: usize,
        height: usize,
        device: String,
    ) -> std::result::Result<Painter, JsError> {
        Painter::new(&pixels, width, height, &device).await.map_err(thrown)
    }

    /// Where it trains.
    pub fn device(&self) -> String {
        self.device.to_string()
    }

    /// Takes some steps; gives the loss of the last but one, or nothing if there is none yet.
    pub async fn steps(&mut self, count: u32) -> std::result::Result<Option<f32>, JsError> {
        let mut loss = None;
        for _ in 0..count {
            loss = self.train().await.map_err(thrown)?.or(loss);
        }
        Ok(loss)
    }

    /// The picture as the network knows it, four bytes a pixel.
    pub async fn paint(&self) -> std::result::Result<Vec<u8>, JsError> {
        self.picture().await.map_err(thrown)
    }

    /// Launches, submits, fresh memories and compiled kernels since the last call.
    pub fn counts(&self) -> Vec<u32> {
        let stats = self.device.stats();
        self.device.reset_stats();
        [stats.launches, stats.submits, stats.pool.fresh, stats.kernels_compiled].map(|n| n as u32).to_vec()
    }
}
