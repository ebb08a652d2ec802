//! tmp
use fornax::*;
fn build(ops: &[(u8, u8, u8)], x: &Tensor, y: &Tensor) -> Result<Tensor> {
    let mut values = vec![x.clone(), y.clone()];
    for &(op, a, b) in ops {
        let a = values[a as usize % values.len()].clone();
        // A partner of the same shape: an earlier value, or one made from `a` itself.
        let partners: Vec<&Tensor> = values.iter().filter(|v| v.shape() == a.shape()).collect();
        let b_tensor = partners[b as usize % partners.len()].clone();
        let rank = a.rank();
        let axis = if rank == 0 { 0 } else { b as usize % rank };
        let value = match op % 25 {
            0 => a.add(&b_tensor)?.mul(0.5)?,
            1 => a.sub(&b_tensor)?.tanh()?,
            2 => a.mul(&b_tensor)?.tanh()?,
            3 => a.sin()?,
            4 => a.mul(0.7)?.add(0.1)?,
            5 => a.sigmoid()?,
            6 => a.gelu()?.tanh()?,
            7 => a.sqr()?.add(1.0)?.log()?,
            8 if rank > 0 => a.softmax(axis as isize)?,
            9 if rank > 0 => a.mean(&[axis as isize], true)?,
            10 if rank > 0 => a.sum(&[axis as isize], false)?.tanh()?,
            11 if rank > 1 => a.transpose(axis as isize, 0)?,
            12 if rank > 0 => a.flip(&[axis as isize])?,
            13 if rank > 0 && a.shape()[axis] > 2 => a.narrow(axis as isize, 1, a.shape()[axis] - 1)?,
            14 if rank > 0 && a.numel() < 2000 => {
                let mut amounts = vec![(0, 0); rank];
                amounts[axis] = (1, 1);
                a.pad(&amounts, 0.0)?
            }
            15 => a.reshape(&[-1])?,
            16 if rank > 1 => a.layer_norm(1, None, None, 1e-3)?.mul(0.5)?,
            17 if rank == 2 && a.numel() < 2000 => a.matmul(&a.t()?)?.mul(0.1)?.tanh()?,
            18 if rank > 0 && a.numel() < 1000 => Tensor::cat(&[&a, &b_tensor], axis as isize)?,
            19 => a.mean(&[], false)?.mul(2.0)?,
            20 if rank > 0 => a.add(&a.max(&[axis as isize], true)?)?.mul(0.4)?,
            21 if rank > 0 => a.cumsum(axis as isize)?.tanh()?,
            22 if rank > 0 => a.var(&[axis as isize], 0, true)?.add(&a)?.tanh()?,
            23 if rank > 0 && a.numel() < 1000 => a.unsqueeze(0)?.expand(&[&[2], a.shape()].concat())?,
            _ => a.mul(&a.gt(0.0)?.where_(0.5, 0.9)?)?,
        };
        values.push(value);
    }
    // Everything that was made counts, so that nothing is dead.
    let mut total = x.sum_all()?.mul(0.0)?;
    for value in &values {
        total = total.add(&value.sqr()?.mean_all()?)?;
    }
    Ok(total)
}

fn leaves(device: &Device) -> Result<(Tensor, Tensor)> {
    fornax::manual_seed(5);
    let x = Tensor::randn(&[6, 10], DType::F32, device)?;
    let y = Tensor::randn(&[3, 4, 5], DType::F32, device)?;
    fornax::eval(&[&x, &y])?;
    Ok((x.variable()?, y.variable()?))
}


fn main() -> Result<()> {
    let ops: &[(u8,u8,u8)] = &[(240, 13, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (248, 1, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (0, 0, 0), (14, 0, 0), (39, 0, 2), (116, 54, 191), (5, 174, 81), (228, 242, 115), (38, 77, 45), (160, 117, 46), (29, 191, 145), (158, 162, 130), (147, 136, 23), (199, 69, 60), (195, 29, 72), (153, 114, 98), (13, 130, 135), (142, 100, 167), (194, 15, 125), (24, 225, 7), (162, 79, 169), (191, 148, 91), (238, 243, 178), (106, 113, 128), (220, 5, 153), (215, 171, 163), (122, 178, 25), (105, 71, 103), (251, 97, 60), (240, 198, 111), (125, 4, 143), (211, 36, 197), (68, 19, 173), (120, 24, 148), (184, 17, 179), (253, 123, 222)];
    let device = Device::open("cpu")?;
    let plain = Device::open("cpu")?; plain.set_fusion(false);
    device.set_verify(true);
    let (x, y) = leaves(&device)?;
    let loss = build(ops, &x, &y)?;
    let grads = grad(&loss, &[&x, &y])?;
    match eval(&[&loss, &grads[0], &grads[1]]) { Ok(()) => println!("verified"), Err(e) => println!("{e}") }
    let (x, y) = leaves(&plain)?;
    let l2 = build(ops, &x, &y)?;
    let g2 = grad(&l2, &[&x, &y])?;
    println!("{} {}", loss.item::<f32>()?, l2.item::<f32>()?);
    for k in 0..2 { let (a,b)=(grads[k].to_vec::<f32>()?, g2[k].to_vec::<f32>()?); for i in 0..a.len() { if (a[i]-b[i]).abs()>1e-3 { println!("{k} {i} {} {}", a[i], b[i]); } } }
    Ok(())
}
