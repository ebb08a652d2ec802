//! tmp
use fornax::*; use fornax::nn::Module; use fornax_models::*;
fn main() -> Result<()> {
    let device = Device::open("cpu")?;
    let config = GptConfig { vocabulary: 256, context: 128, layers: 2, width: 256, heads: 4 };
    let model = Gpt::new(config, &device)?;
    let ids = Tensor::from_slice(&vec![1i64; 8*128], &[8, 128], &device)?;
    let loss = model.loss(&ids)?;
    let grads = loss.backward()?;
    let mut all = vec![&loss];
    let ps: Vec<_> = model.parameters().iter().map(|p| p.tensor()).collect();
    for p in &ps { all.push(grads.get(p).unwrap()); }
    let t = std::time::Instant::now();
    println!("{}", realize::plan(&all)?);
    println!("{:?}", t.elapsed());
    Ok(())
}
