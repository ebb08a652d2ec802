//! What is launched: in which order it runs, and what happens where it cannot.

use super::super::checked;
use super::super::tune::Busy;
use super::*;
use crate::Error;
use rayon::prelude::*;

#[test]
fn a_refused_text_is_an_error_and_the_device_goes_on() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
    for _ in 0..2 {
        let source = wgpu::ShaderSource::Wgsl("fn main() { nothing(); }".into());
        let text = wgpu::ShaderModuleDescriptor { label: None, source };
        assert!(checked(&gpu.device, || gpu.device.create_shader_module(text)).is_err());
        gpu.reader.check()?;
    }
    assert!(checked(&gpu.device, || 1).is_ok());
    check("after", wave(&[40, 40], 0.3, DType::F32, &device)?.exp())
}

#[test]
fn a_lost_device_is_an_error_and_another_goes_on() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
    let x = wave(&[40, 40], 0.3, DType::F32, &device)?;
    let y = x.matmul(&x)?;
    y.eval()?;
    let (mut pending, awaited) = (y.to_vec_later::<f32>()?, y.to_vec_later::<f32>()?);
    assert!(!y.to_vec::<f32>()?.is_empty());
    gpu.device.destroy();
    // What had arrived may be had; the rest must fail, and nothing may hang.
    while !pending.ready() {}
    for early in [pending.wait(), pollster::block_on(awaited)] {
        assert!(matches!(early, Ok(_) | Err(Error::Device { .. })), "{early:?}");
    }
    let lost = |what: &str, result: Result<()>| match result {
        Err(Error::Device { device, detail }) => {
            assert!(device.starts_with("wgpu") && !detail.is_empty(), "{what}: {detail}");
        }
        other => panic!("{what}: {other:?}"),
    };
    lost("read", y.to_vec::<f32>().map(|_| ()));
    lost("launch", x.add(1.0)?.eval());
    lost("compile", x.softmax(0)?.exp()?.eval());
    lost("upload", wave(&[7], 0.1, DType::F32, &device).map(|_| ()));
    lost("wait", device.synchronize());
    lost("await", pollster::block_on(y.to_vec_async::<f32>()).map(|_| ()));
    drop((x, y, gpu, device));
    // Bytes that are the first to meet the loss, by belts that were used before and by new ones.
    for (before, used) in [(1000, true), (1 << 20, true), (1000, false), (1 << 20, false)] {
        let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
        let upload = || Tensor::from_slice(&vec![1u8; before], &[before], &device);
        if used {
            upload()?.to_bytes()?;
        }
        gpu.device.destroy();
        let uploads = (0..300).map(|_| upload()).collect::<Result<Vec<_>>>();
        lost("uploads, then a read", uploads.and_then(|all| all[7].to_bytes()).map(|_| ()));
        lost("upload", upload().map(|_| ()));
    }
    let again = Device::open("wgpu")?;
    for device in [Device::cpu(), again] {
        let x = wave(&[40, 40], 0.3, DType::F32, &device)?;
        check("another device", x.matmul(&x))?;
    }
    Ok(())
}

#[test]
fn a_long_batch_is_submitted_in_pieces_and_runs_in_order() -> Result<()> {
    let chain = |x: &Tensor| -> Result<Tensor> {
        let mut u = x.clone();
        for step in 0..300 {
            u = if step % 3 == 0 { u.mul(0.5)?.fence() } else { u.add(1.0)?.fence() };
        }
        u.eval()?;
        Ok(u)
    };
    let right = (0..300).fold(0.0f32, |v, step| if step % 3 == 0 { v * 0.5 } else { v + 1.0 });
    for immediates in [true, false] {
        let limit = |caps: Caps| Caps { immediates: caps.immediates && immediates, ..caps };
        let Some((gpu, device)) = limited(limit) else { return Ok(()) };
        let x = Tensor::zeros(&[64], DType::F32, &device)?;
        x.eval()?;
        for _ in 0..2 {
            device.synchronize()?;
            device.reset_stats();
            let u = chain(&x)?;
            // Arguments in a buffer may be many bytes.
            let submits = if gpu.caps.immediates { 2..=2 } else { 2..=3 };
            let stats = device.stats();
            assert!(stats.launches >= 300 && submits.contains(&stats.submits), "{stats:?}");
            assert_eq!(u.to_vec::<f32>()?, vec![right; 64]);
        }
        // In the threads that write commands, too: who waits there may launch what another one wants.
        let all = (0..8).into_par_iter().map(|_| chain(&x)?.to_vec::<f32>()).collect::<Result<Vec<_>>>()?;
        assert!(all.iter().flatten().all(|&v| v == right));
    }
    Ok(())
}

#[test]
fn what_keeps_a_gpu_awake_is_valid_and_not_counted() -> Result<()> {
    let Some((gpu, device)) = limited(|caps| caps) else { return Ok(()) };
    // What was written when the device was opened goes.
    gpu.drain()?;
    device.reset_stats();
    let work = Busy::new(&gpu)?;
    // Software would take seconds to run it.
    if !gpu.software {
        work.run(&gpu)?;
    }
    assert_eq!(device.stats().submits, 0);
    Ok(())
}
