use fornax::*;
fn main() -> Result<()> {
    let device = Device::open("cpu")?;
    let r = |s: &[usize]| -> Result<Tensor> { let t = Tensor::randn(s, DType::F32, &device)?; t.eval()?; Ok(t) };
    let (x, y) = (r(&[64, 33])?, r(&[64, 33])?);
    println!("gelu {}", x.mul(1.5)?.add(&y)?.gelu()?.mul(&y)?.add(&x)?.plan()?);
    for axis in 0..2 { println!("softmax {axis} {}", x.softmax(axis)?.plan()?); println!("logsoftmax {axis} {}", x.log_softmax(axis)?.plan()?);}
    let x = r(&[32, 48])?.variable()?;
    let (w, b) = (r(&[48])?.variable()?, r(&[48])?.variable()?);
    let l = x.layer_norm(1, Some(&w), Some(&b), 1e-5)?;
    println!("ln {}", l.plan()?);
    let g = l.backward_with(&r(&[32, 48])?)?;
    let all = [&l, g.get(&x).unwrap(), g.get(&w).unwrap(), g.get(&b).unwrap()];
    println!("ln train {}", realize::plan(&all)?);
    l.eval()?;
    println!("ln bwd {}", realize::plan(&all[1..])?);
    let logits = r(&[16, 101])?.variable()?;
    let t = Tensor::randint(0, 101, &[16], DType::I64, &device)?; t.eval()?;
    let loss = logits.cross_entropy(&t)?;
    let g = loss.backward()?;
    let p = realize::plan(&[&loss, g.get(&logits).unwrap()])?;
    println!("ce {}", p);
    for s in &p.steps { println!("{}", s.kernel); }
    let (x, w, b) = (r(&[2, 8, 16])?, r(&[24, 16])?, r(&[24])?);
    let p = x.matmul(&w.t()?)?.add(&b)?.gelu()?.plan()?;
    println!("mm {}", p);
    for s in &p.steps { println!("{}", s.kernel); }
    let heads = r(&[2, 10, 3 * 4 * 8])?.reshape(&[2, 10, 3, 4, 8])?.permute(&[2, 0, 3, 1, 4])?;
    let (q, k, v) = (heads.select(0, 0)?, heads.select(0, 1)?, heads.select(0, 2)?);
    let options = AttentionOptions { causal: true, ..Default::default() };
    let out = q.scaled_dot_product_attention(&k, &v, &options)?.transpose(1, 2)?.reshape(&[2, 10, 32])?;
    println!("att {}", out.matmul(&r(&[32, 32])?)?.plan()?);
    let x = r(&[64, 64])?.variable()?;
    let y = x.sqr()?.dropout(0.5, true)?;
    let g = y.backward_with(&r(&[64, 64])?)?;
    println!("dropout {}", realize::plan(&[&y, g.get(&x).unwrap()])?);
    y.eval()?;
    println!("dropout bwd {}", realize::plan(&[g.get(&x).unwrap()])?);
    Ok(())
}
