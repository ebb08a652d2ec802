//! tmp
use fornax::*; use fornax::nn::Module; use fornax_models::*; use fornax::optim::*;
fn main() -> Result<()> {
    let device = Device::open("cpu")?;
    let big = std::env::args().nth(1).is_some();
    let config = if big { GptConfig { vocabulary: 50257, context: 128, layers: 6, width: 768, heads: 12 } } else { GptConfig { vocabulary: 256, context: 128, layers: 4, width: 256, heads: 4 } };
    let model = Gpt::new(config, &device)?;
    let b = if big {1} else {8};
    let ids = Tensor::from_slice(&(0..b*128).map(|i| (i*7%250) as i64).collect::<Vec<_>>(), &[b, 128], &device)?;
    let mut opt = Optimizer::new(AdamW::default(), 1e-3, model.named_parameters())?;
    for i in 0..6 {
        device.reset_stats();
        let t = std::time::Instant::now();
        let loss = model.loss(&ids)?;
        let grads = loss.backward()?;
        let t1 = t.elapsed();
        opt.step(&grads)?;
        println!("{i} loss {} {:?} graph {:?} {:?}", loss.item::<f32>()?, t.elapsed(), t1, device.stats());
    }
    let loss = model.loss(&ids)?;
    let grads = loss.backward()?;
    let mut all = vec![&loss];
    let ps: Vec<_> = model.parameters().iter().map(|p| p.tensor()).collect();
    for p in &ps { all.push(grads.get(p).unwrap()); }
    let p = realize::plan(&all)?;
    println!("{p}");
    Ok(())
}
