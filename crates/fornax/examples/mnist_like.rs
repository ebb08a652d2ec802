//! Classifies generated digits: seven-segment glyphs of 12 x 12 pixels, shifted and noisy. Nothing is downloaded.

use fornax::nn::{Linear, Module, Visitor};
use fornax::optim::{AdamW, Cosine, Optimizer, Schedule};
use fornax::{DType, Device, Result, Tensor, manual_seed, no_grad};

const SIDE: usize = 12;

/// The glyph of a digit: which segments are lit (top, upper left, upper right, middle, lower left, lower right, bottom).
fn glyph(digit: usize) -> [f32; SIDE * SIDE] {
    const LIT: [&str; 10] = [
        "1110111", "0010010", "1011101", "1011011", "0111010", "1101011", "1101111", "1010010", "1111111",
        "1111011",
    ];
    // First row, first column, height and width of each segment.
    const SEGMENTS: [[usize; 4]; 7] =
        [[1, 3, 1, 5], [1, 3, 5, 1], [1, 7, 5, 1], [5, 3, 1, 5], [5, 3, 5, 1], [5, 7, 5, 1], [9, 3, 1, 5]];
    let mut image = [0.0; SIDE * SIDE];
    for (lit, [row, column, height, width]) in LIT[digit].chars().zip(SEGMENTS) {
        for r in row..row + height {
            for c in column..column + width {
                if lit == '1' {
                    image[r * SIDE + c] = 1.0;
                }
            }
        }
    }
    image
}

/// `count` images `[count, 144]` and their labels. The noise is Fornax's own random numbers.
fn digits(count: usize, device: &Device) -> Result<(Tensor, Tensor)> {
    let labels = Tensor::randint(0, 10, &[count], DType::I64, device)?;
    let shifts = Tensor::randint(-1, 2, &[count, 2], DType::I64, device)?.to_vec::<i64>()?;
    let mut pixels = vec![];
    for (&label, shift) in labels.to_vec::<i64>()?.iter().zip(shifts.chunks(2)) {
        let image = glyph(label as usize);
        for r in 0..SIDE as i64 {
            for c in 0..SIDE as i64 {
                let (r, c) = (r - shift[0], c - shift[1]);
                let inside = (0..SIDE as i64).contains(&r) && (0..SIDE as i64).contains(&c);
                pixels.push(if inside { image[r as usize * SIDE + c as usize] } else { 0.0 });
            }
        }
    }
    let clean = Tensor::from_slice(&pixels, &[count, SIDE * SIDE], device)?;
    let noise = Tensor::randn(&[count, SIDE * SIDE], DType::F32, device)?;
    let images = clean.add(&noise.mul(0.25)?)?;
    images.eval()?;
    Ok((images, labels))
}

struct Classifier {
    hidden: Linear,
    out: Linear,
}

impl Classifier {
    fn forward(&self, x: &Tensor) -> Result<Tensor> {
        self.out.forward(&self.hidden.forward(x)?.relu()?)
    }

    /// The share of images whose largest logit is the label's.
    fn accuracy(&self, images: &Tensor, labels: &Tensor) -> Result<f32> {
        no_grad(|| {
            let right = self.forward(images)?.argmax(Some(-1), false)?.eq(labels)?;
            right.to_dtype(DType::F32)?.mean_all()?.item()
        })
    }
}

impl Module for Classifier {
    fn visit(&self, v: &mut Visitor) {
        v.module("hidden", &self.hidden);
        v.module("out", &self.out);
    }
}

fn main() -> Result<()> {
    manual_seed(1);
    let device = Device::best()?;
    let (images, labels) = digits(4096, &device)?;
    let (unseen, their_labels) = digits(256, &device)?;
    let model =
        Classifier { hidden: Linear::new(SIDE * SIDE, 64, &device)?, out: Linear::new(64, 10, &device)? };
    println!("{} parameters on {device}", model.parameter_count());

    let (steps, batch) = (150, 128);
    let schedule = Cosine { lr: 1e-2, min_lr: 1e-4, warmup: 5, total: steps };
    let mut optimizer = Optimizer::new(AdamW::default(), schedule.lr(0), model.named_parameters())?;
    for step in 0..steps {
        optimizer.set_lr(schedule.lr(step))?;
        let first = step as usize * batch % 4096;
        let logits = model.forward(&images.narrow(0, first, batch)?)?;
        let loss = logits.cross_entropy(&labels.narrow(0, first, batch)?)?;
        optimizer.step(&loss.backward()?)?;
        if step % 30 == 0 {
            println!("step {step:3}  loss {:.4}", loss.item::<f32>()?);
        }
    }
    println!("accuracy on images it learned from: {:.1} %", 100.0 * model.accuracy(&images, &labels)?);
    println!("accuracy on new images:             {:.1} %", 100.0 * model.accuracy(&unseen, &their_labels)?);
    Ok(())
}
