//! Values that are read later or awaited: in order, with the errors of the kernels before them, and through buffers that
//! are used again.

mod on;

use fornax::{DType, Device, Error, Pending, Result, Tensor};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

#[test]
fn values_come_later_in_any_order() -> Result<()> {
    let device = on::fresh();
    let x = Tensor::arange(0, 1000, 1, DType::F32, &device)?;
    let first = x.mul(2.0)?.to_vec_later::<f32>()?;
    let second = x.sum_all()?.item_later::<f32>()?;
    let mut third = x.to_dtype(DType::U8)?.narrow(0, 3, 5)?.to_vec_later::<u8>()?;
    while !third.ready() {
        std::thread::yield_now();
    }
    assert_eq!(third.wait()?, [3, 4, 5, 6, 7]);
    assert_eq!(first.wait()?[999], 1998.0);
    assert_eq!(second.wait()?, 499_500.0);
    assert!(Tensor::zeros(&[0, 3], DType::F32, &device)?.to_vec_later::<f32>()?.wait()?.is_empty());
    Ok(())
}

#[test]
fn devices_are_opened_and_awaited() -> Result<()> {
    pollster::block_on(async {
        let device = Device::open_async(&on::name()).await?;
        let x = Tensor::arange(0, 5, 1, DType::I32, &device)?;
        assert_eq!(x.to_bytes_async().await?, x.to_bytes()?);
        let bad = Tensor::from_slice(&[9i64], &[1], &device)?;
        // The CPU says so at once, a GPU to those who wait for it.
        let said = match x.index_select(0, &bad)?.eval() {
            Ok(()) => device.synchronize_async().await,
            said => said,
        };
        assert!(matches!(said, Err(Error::Index { .. })), "{said:?}");
        device.synchronize_async().await?;
        assert_eq!(Device::best_async().await?, Device::best()?);
        assert!(matches!(Device::open_async("gpu:x").await, Err(Error::NoDevice { .. })));
        Ok(())
    })
}

#[test]
fn a_value_is_the_one_of_its_time() -> Result<()> {
    // The memory of each is taken over by the next while its copy may still be queued.
    let device = on::fresh();
    let mut pending = vec![];
    for i in 0..20 {
        let x = Tensor::full(&[257], i as f64, DType::F32, &device)?;
        pending.push(x.to_vec_later::<f32>()?);
    }
    for (i, value) in pending.into_iter().enumerate() {
        assert_eq!(value.wait()?, [i as f32; 257]);
    }
    Ok(())
}

#[test]
fn a_loop_that_reads_a_step_behind_makes_no_buffers() -> Result<()> {
    let device = on::fresh();
    let x = Tensor::ones(&[64], DType::F32, &device)?;
    x.eval()?;
    // As many as can be on their way at a time: two, and one for which nobody waits.
    let some = (0..3).map(|_| x.mul(2.0)?.sum_all()?.item_later::<f32>()).collect::<Result<Vec<_>>>()?;
    some.into_iter().try_for_each(|value| value.wait().map(drop))?;
    let mut last: Option<Pending<f32>> = None;
    for step in 0..20 {
        if step == 3 {
            device.reset_stats();
        }
        let loss = x.mul(step as f32)?.sum_all()?;
        if let Some(last) = last.replace(loss.item_later()?) {
            assert_eq!(last.wait()?, 64.0 * (step - 1) as f32);
        }
        if step % 7 == 0 {
            // Nobody waits for this one.
            drop(loss.item_later::<f32>()?);
        }
    }
    let stats = device.stats();
    assert_eq!((stats.staging, stats.pool.fresh, stats.plans_built), (0, 0, 0), "{stats:?}");
    Ok(())
}

#[test]
fn a_bad_index_comes_with_the_value_and_only_once() -> Result<()> {
    let device = on::fresh();
    let table = Tensor::ones(&[4, 2], DType::F32, &device)?;
    let bad = Tensor::from_slice(&[1i64, 9], &[2], &device)?;
    // The CPU says so when it computes, a GPU when it is asked for the value.
    let read = Tensor::embedding(&table, &bad)?.to_vec_later::<f32>().and_then(|pending| pending.wait());
    assert!(matches!(read, Err(Error::Index { .. })), "{read:?}");
    let awaited = pollster::block_on(Tensor::embedding(&table, &bad)?.to_vec_async::<f32>());
    assert!(matches!(awaited, Err(Error::Index { .. })), "{awaited:?}");
    assert_eq!(table.sum_all()?.item_async::<f32>().block()?, 8.0);

    // Two reads carry the same report. The second must not wipe out what was reported after the first was heard.
    if device.name() != "cpu" {
        let gather = |ids: &[i64]| -> Result<Pending<Vec<f32>>> {
            Tensor::embedding(&table, &Tensor::from_slice(ids, &[2], &device)?)?.to_vec_later()
        };
        let (one, two) = (gather(&[9, 9])?, gather(&[0, 0])?);
        assert!(matches!(one.wait(), Err(Error::Index { .. })));
        Tensor::embedding(&table, &bad)?.eval()?;
        assert!(matches!(two.wait(), Err(Error::Index { .. })), "it was computed behind a failure");
        assert!(matches!(device.synchronize(), Err(Error::Index { .. })), "the second failure is told");
        assert_eq!(gather(&[0, 1])?.wait()?, [1.0; 4]);
    }
    Ok(())
}

trait Block: Future + Sized {
    fn block(self) -> Self::Output {
        pollster::block_on(self)
    }
}

impl<F: Future> Block for F {}

#[test]
fn awaiting_wakes_and_does_not_spin() -> Result<()> {
    struct Count(AtomicUsize);
    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let device = on::fresh();
    let x = Tensor::randn(&[300, 300], DType::F32, &device)?;
    assert_eq!(pollster::block_on(x.to_vec_async::<f32>())?, x.to_vec::<f32>()?);
    let (count, y) = (Arc::new(Count(AtomicUsize::new(0))), x.matmul(&x)?.sum_all()?);
    let waker = Waker::from(count.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(y.item_later::<f32>()?);
    let begun = std::time::Instant::now();
    let value = loop {
        let woken = count.0.load(Ordering::SeqCst);
        match future.as_mut().poll(&mut context) {
            Poll::Ready(value) => break value?,
            // Nothing here polls the device: only the promised call can end this loop.
            Poll::Pending => {
                while count.0.load(Ordering::SeqCst) == woken {
                    assert!(begun.elapsed().as_secs() < 60, "the task was never woken");
                    std::thread::yield_now();
                }
            }
        }
    };
    assert_eq!(value, y.item::<f32>()?);
    assert!(count.0.load(Ordering::SeqCst) <= 1);
    // Many at once, from several threads.
    std::thread::scope(|scope| {
        for i in 0..4 {
            let x = &x;
            scope.spawn(move || {
                let want = x.add(i as f32)?.sum_all()?.item::<f32>()?;
                let got = pollster::block_on(x.add(i as f32)?.sum_all()?.item_async::<f32>())?;
                assert_eq!(got, want);
                Ok::<(), Error>(())
            });
        }
    });
    assert!(matches!(x.item_later::<f32>(), Err(Error::Shape { .. })));
    assert!(matches!(x.to_vec_later::<i64>(), Err(Error::WrongType { .. })));
    Ok(())
}
