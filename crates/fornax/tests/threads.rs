//! Tensors are Send and Sync; two threads on one device do what they would do one after the other.

mod on;

use fornax::nn::{Linear, Module};
use fornax::optim::{AdamW, Optimizer};
use fornax::{DType, Device, Result, Tensor, manual_seed};

fn train(seed: u64, device: &Device) -> Result<Vec<f32>> {
    manual_seed(seed);
    let (up, down) = (Linear::new(6, 24, device)?, Linear::new(24, 3, device)?);
    let all = [up.parameters(), down.parameters()].concat();
    let named = all.into_iter().enumerate().map(|(i, p)| (i.to_string(), p)).collect();
    let mut optimizer = Optimizer::new(AdamW::default(), 1e-2, named)?;
    let x = Tensor::randn(&[32, 6], DType::F32, device)?;
    let y = Tensor::randint(0, 3, &[32], DType::I64, device)?;
    let mut losses = vec![];
    for _ in 0..20 {
        let loss = down.forward(&up.forward(&x)?.dropout(0.2, true)?.relu()?)?.cross_entropy(&y)?;
        optimizer.step(&loss.backward()?)?;
        losses.push(loss.item::<f32>()?);
    }
    Ok(losses)
}

#[test]
fn two_threads_train_as_one_after_the_other() -> Result<()> {
    fn check<T: Send + Sync>() {}
    check::<Tensor>();
    let device = on::fresh();
    let alone = (train(1, &device)?, train(2, &device)?);
    let together = std::thread::scope(|s| -> Result<_> {
        let a = s.spawn(|| train(1, &device));
        let b = s.spawn(|| train(2, &device));
        Ok((a.join().unwrap()?, b.join().unwrap()?))
    })?;
    assert_eq!(alone, together);
    assert_ne!(alone.0, alone.1);
    Ok(())
}

#[test]
fn one_lazy_tensor_can_be_read_by_many_threads() -> Result<()> {
    let device = on::fresh();
    let y = Tensor::arange(0, 1000, 1, DType::F32, &device)?.mul(2.0)?.add(1.0)?;
    std::thread::scope(|s| {
        let handles: Vec<_> = (0..8).map(|_| s.spawn(|| y.to_vec::<f32>().unwrap()[999])).collect();
        assert!(handles.into_iter().all(|h| h.join().unwrap() == 1999.0));
    });
    Ok(())
}

#[test]
fn many_threads_wait_for_results_and_give_memory_back() -> Result<()> {
    let device = on::fresh();
    let turns = |thread: usize| -> Result<()> {
        for turn in 0..150 {
            // Of many sizes, so that the pool gives some back.
            let n = [1, 70, 300, 900][(thread + turn) % 4];
            let x = Tensor::full(&[n], turn as f64, DType::F32, &device)?.add(thread as f64)?;
            assert_eq!(x.sum_all()?.item::<f32>()?, (n * (turn + thread)) as f32);
            drop(x);
            if turn % 10 == thread {
                device.trim();
            }
        }
        Ok(())
    };
    std::thread::scope(|s| {
        let all: Vec<_> = (0..6)
            .map(|thread| {
                s.spawn({
                    let turns = &turns;
                    move || turns(thread)
                })
            })
            .collect();
        all.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

#[test]
fn very_long_chains_neither_overflow_the_stack_nor_fail() -> Result<()> {
    let device = on::fresh();
    let mut x = Tensor::ones(&[3], DType::F32, &device)?;
    for _ in 0..5_000 {
        x = x.add(1.0)?;
    }
    assert_eq!(x.to_vec::<f32>()?, [5_001.0; 3]);
    let mut dropped = Tensor::ones(&[3], DType::F32, &device)?;
    for _ in 0..200_000 {
        dropped = dropped.add(1.0)?;
    }
    drop(dropped);
    Ok(())
}
