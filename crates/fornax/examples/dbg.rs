//! tmp
use fornax::*;
fn main() -> Result<()> {
    let device = Device::open("cpu")?;
    for dt in [DType::F16, DType::BF16, DType::F32] {
    for (m,n,k) in [(1,1,1),(1,7,5),(3,4,5),(17,33,9),(64,64,64)] {
        let a = Tensor::randn(&[m,k], DType::F32, &device)?.to_dtype(dt)?; 
        let b = Tensor::randn(&[k,n], DType::F32, &device)?.to_dtype(dt)?; 
        eval(&[&a,&b])?;
        let c = a.matmul(&b)?.to_dtype(DType::F32)?;
        let d = a.matmul(&b)?;
        let r = c.reference()?; let r = f32::from_bytes(&r);
        println!("{dt} {m} {n} {k}: {:?} {:?} ref {:?}", &c.to_vec::<f32>()?[..1.min(m*n)], &d.to_dtype(DType::F32)?.to_vec::<f32>()?[..1], &r[..1]);
        d.eval()?;
        println!("   stored {:?}", &d.to_dtype(DType::F32)?.to_vec::<f32>()?[..1]);
    }}
    let a = Tensor::randn(&[1,1], DType::F16, &device)?; let b = Tensor::randn(&[1,1], DType::F16, &device)?; eval(&[&a,&b])?;
    let p = a.matmul(&b)?.plan()?; println!("{p}"); for s in &p.steps { println!("{}", s.kernel); }
    Ok(())
}
