//! Profiles of small workloads, on the device that `FORNAX_DEVICE` names, otherwise the CPU.

use super::roof::tests::ROOF;
use super::*;
use crate::nn::{Linear, Module};
use crate::optim::{AdamW, Optimizer};
use crate::{DType, Error, Tensor, scope};
use std::cell::Cell;

fn device() -> Device {
    let name = std::env::var("FORNAX_DEVICE").ok().filter(|name| !name.is_empty()).unwrap_or("cpu".into());
    Device::open(&name).unwrap()
}

fn options(name: &str) -> Options {
    Options { name: name.into(), warm_up: 3, runs: 3, roof: Some(ROOF) }
}

/// A training step of two layers, in modules.
fn training(device: &Device) -> Result<impl FnMut() -> Result<()> + use<>> {
    crate::manual_seed(1);
    let (up, down) = (Linear::new(32, 64, device)?, Linear::new(64, 8, device)?);
    let x = Tensor::randn(&[16, 32], DType::F32, device)?;
    x.eval()?;
    let named = |prefix: &str, layer: &Linear| {
        let path = |(name, p): (String, _)| (format!("{prefix}.{name}"), p);
        layer.named_parameters().into_iter().map(path).collect::<Vec<_>>()
    };
    let mut optimizer =
        Optimizer::new(AdamW::default(), 1e-2, [named("up", &up), named("down", &down)].concat())?;
    Ok(move || {
        let y = scope("h.0", || scope("up", || up.forward(&x)?.gelu()))?;
        let loss = scope("h.1", || down.forward(&y)?.sqr()?.mean_all())?;
        optimizer.step(&loss.backward()?)?;
        loss.item::<f32>().map(|_| ())
    })
}

fn profiled() -> Result<Profile> {
    let device = device();
    let step = training(&device)?;
    profile_with(&device, &options("step"), step)
}

#[test]
fn the_parts_of_a_profile_add_up() -> Result<()> {
    let p = profiled()?;
    let close = |a: f64, b: f64| (a - b).abs() <= 1e-9 + 1e-6 * b.abs();
    assert!(
        p.undisturbed && p.wall.calls == 3 && p.wall.low <= p.wall.median && p.wall.median <= p.wall.high
    );
    assert!(p.busy > 0.0 && p.overhead.is_some());
    let typical: f64 = p.phases.iter().map(|t| t.seconds).sum();
    assert!(close(typical, p.wall.median), "phases are {typical}, the wall {:?}", p.wall);
    assert!(p.phases.iter().all(|t| t.seconds >= 0.0), "{:?}", p.phases);
    for phase in [Phase::Graph, Phase::Lookup, Phase::Encode, Phase::Wait, Phase::ReadBack] {
        assert!(p.phases.iter().any(|t| t.phase == phase), "{phase:?} of {:?}", p.phases);
    }
    // A steady step builds and allocates nothing.
    assert_eq!((p.counts.plans_built, p.counts.kernels_compiled), (0, 0));
    p.counts.assert_fresh_allocations(0);
    let launches: u64 = p.kernels.iter().map(|k| k.count).sum();
    assert_eq!(launches, p.counts.launches);
    assert_eq!(launches, p.timeline.launches.len() as u64);
    let kernels: f64 = p.kernels.iter().map(|k| k.seconds).sum();
    let modules: f64 =
        p.modules.iter().filter(|m| m.depth == 0).map(|m| m.forward.seconds + m.backward.seconds).sum();
    let timeline: f64 = p.timeline.launches.iter().map(|l| l.end - l.begin).sum();
    assert!(close(kernels, modules) && close(kernels, timeline), "{kernels} {modules} {timeline}");
    assert!(close(kernels + p.remainder, p.busy), "{kernels} {} {}", p.remainder, p.busy);
    assert!(p.kernels.windows(2).all(|pair| pair[0].seconds >= pair[1].seconds));
    assert!(p.kernels.iter().all(|k| k.spread.is_some() && k.bound.is_some()));
    let bytes: u64 = p.kernels.iter().map(|k| k.bytes_read + k.bytes_written).sum();
    assert_eq!(bytes, p.counts.bytes());
    let saved: f64 = p.advice.iter().map(|a| a.saves).sum();
    assert!(saved <= p.seconds() * (1.0 + 1e-9));
    for launch in &p.timeline.launches {
        assert!(
            launch.begin <= launch.end && launch.end <= p.timeline.length,
            "{launch:?} {}",
            p.timeline.length
        );
    }
    Ok(())
}

#[test]
fn forward_and_backward_of_a_module_are_told_apart() -> Result<()> {
    let p = profiled()?;
    let module = |path: &str| p.modules.iter().find(|m| m.path == path).cloned();
    let up = module("h.0/up").unwrap_or_else(|| panic!("{:?}", p.modules));
    assert!(up.forward.launches > 0 && up.backward.launches > 0, "{up:?}");
    assert_eq!(up.depth, 1);
    let outer = module("h.0").unwrap();
    assert_eq!(
        (outer.forward, outer.backward),
        (up.forward, up.backward),
        "a path includes what is inside it"
    );
    let at = p.modules.iter().position(|m| m.path == "h.0").unwrap();
    assert_eq!(p.modules[at + 1].path, "h.0/up", "and is followed by it");
    let optim = module("optim").unwrap();
    assert_eq!(optim.backward.launches, 0);
    Ok(())
}

#[test]
fn memory_at_the_peak_is_named() -> Result<()> {
    let device = device();
    let x = Tensor::ones(&[256, 256], DType::F32, &device)?;
    x.eval()?;
    // Three matrices of a quarter of a MiB: the input, the product and what is made of it.
    let p = profile(&device, || scope("big", || x.matmul(&x)?.softmax(-1)?.fence().matmul(&x))?.eval())?;
    let m = &p.memory;
    assert_eq!(m.before, 256 * 256 * 4);
    assert!(m.peak >= 3 * m.before && p.counts.peak_bytes == m.peak, "{m:?}");
    let named: u64 = m.alive.iter().map(|a| a.bytes).sum();
    assert_eq!(named + m.others, m.peak);
    let whats: Vec<&str> = m.alive.iter().map(|a| a.what.split(' ').next().unwrap()).collect();
    for what in ["input", "output", "temporary"] {
        assert!(whats.contains(&what), "{what} of {m:?}");
    }
    assert!(m.alive.iter().all(|a| a.shape == [256, 256] && a.dtype == "f32" && a.module == "big"), "{m:?}");
    assert_eq!(m.over_time[0], (0.0, m.before));
    assert_eq!(m.over_time.iter().map(|p| p.1).max(), Some(m.peak));
    assert!(m.over_time.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    Ok(())
}

#[test]
fn one_call_is_profiled_as_it_comes_and_says_what_it_does_not_know() -> Result<()> {
    let device = device();
    let x = Tensor::ones(&[64], DType::F32, &device)?;
    let calls = Cell::new(0);
    let p = profile(&device, || {
        calls.set(calls.get() + 1);
        x.exp()?.sum_all()?.eval()
    })?;
    assert_eq!(calls.get(), 1);
    assert!(!p.undisturbed && p.overhead.is_none() && p.counts.plans_built == 1);
    assert!(p.phases.iter().any(|t| t.phase == Phase::Schedule && t.seconds > 0.0));
    assert!(p.phases.iter().any(|t| t.phase == Phase::Compile));
    assert!(p.kernels.iter().all(|k| k.spread.is_none()));
    let text = p.to_string();
    let inner = p.counts.launches - 1;
    assert_eq!((p.timing.timestamps, p.timing.calls), (inner, 1), "every launch in the one call");
    assert!(text.contains("all launches in 1 call: ") && text.contains("which is taken off"), "{text}");
    // Nothing is left behind.
    assert!(device.take_timings().is_empty());
    x.neg()?.eval()?;
    assert!(device.take_timings().is_empty());
    Ok(())
}

#[test]
fn a_device_is_profiled_by_one_at_a_time_and_a_failing_call_leaves_it_usable() -> Result<()> {
    let device = device();
    let x = Tensor::ones(&[4], DType::F32, &device)?;
    let inner = profile(&device, || count(&device, || x.exp()?.eval()).map(|_| ()));
    assert!(matches!(inner, Err(Error::Argument { op: "profile", .. })), "{inner:?}");
    let failed = profile(&device, || x.reshape(&[5])?.eval());
    assert!(matches!(failed, Err(Error::Shape { .. })));
    count(&device, || x.exp()?.eval())?.assert_launches(2);
    Ok(())
}

#[test]
fn a_call_that_does_nothing_has_a_profile_too() -> Result<()> {
    let p = profile_with(&device(), &options("nothing"), || Ok(()))?;
    assert_eq!((p.counts.launches, p.busy), (0, 0.0));
    assert!(p.overhead.is_none() && p.kernels.is_empty() && p.modules.is_empty());
    assert!(!p.to_string().contains("NaN") && !p.to_json()?.contains("NaN"));
    Ok(())
}

#[test]
fn json_comes_back_as_it_went() -> Result<()> {
    let p = profiled()?;
    let text = p.to_json()?;
    let back = Profile::from_json(&text, "a.json")?;
    assert!(back.to_json()? == text, "another text came back");
    assert_eq!(back.kernels, p.kernels);
    for (wrong, message) in [
        ("{}", "not a profile"),
        ("[1, 2", "not a profile"),
        ("{\"format\": \"fornax-profile 99\"}", "fornax-profile 99"),
        ("{\"format\": \"fornax-profile 2\"}", "not a whole profile"),
    ] {
        match Profile::from_json(wrong, "b.json") {
            Err(error @ Error::Format { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("b.json: ") && text.contains(message), "{text}");
            }
            other => panic!("{wrong}: {other:?}"),
        }
    }
    Ok(())
}

#[test]
fn a_trace_has_the_lanes_and_a_page_has_the_data() -> Result<()> {
    let mut p = profiled()?;
    let trace: serde_json::Value = serde_json::from_str(&p.to_trace()?).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let on = |tid: u64| events.iter().filter(|e| e["ph"] == "X" && e["tid"] == tid).count();
    assert_eq!(on(2), p.timeline.launches.len());
    assert_eq!(on(1), p.timeline.spans.len() + 1);
    assert!(events.iter().any(|e| e["ph"] == "C"));
    p.name = "</script><b>&".into();
    let page = p.to_html()?;
    assert!(page.contains("&lt;/script>") && page.contains(r#""name":"<\/script><b>&""#));
    assert_eq!(page.matches("</script>").count(), 2, "the data does not end its element");
    for outside in ["http://", "https://", "//cdn", "@import"] {
        let found = page.replace("http://www.w3.org/2000/svg", "");
        assert!(!found.contains(outside), "{outside} in the page");
    }
    Ok(())
}

#[test]
fn a_comparison_names_what_changed() -> Result<()> {
    let before = profiled()?;
    let mut after = before.clone();
    after.kernels[0].seconds *= 3.0;
    after.kernels[0].spread = after.kernels[0].spread.map(|(low, high)| (low + 1.0, high + 1.0));
    let gone = after.kernels.pop().unwrap();
    after.kernels.push(KernelTime { label: "new f32 1".into(), ..gone.clone() });
    after.device = "another".into();
    let c = before.compare(&after);
    assert_eq!(c.kernels[0].what, before.kernels[0].label);
    assert!((c.kernels[0].ratio().unwrap() - 3.0).abs() < 1e-9);
    assert_eq!(c.kernels[0].beyond_noise, Some(true));
    let of = |label: &str| c.kernels.iter().find(|k| k.what == label).unwrap();
    assert!(of(&gone.label).after.is_none() && of(&gone.label).ratio().is_none());
    assert!(of("new f32 1").before.is_none());
    assert_eq!(c.cautions.len(), 1, "{:?}", c.cautions);
    let text = c.to_string();
    assert!(text.contains("3.00x *") && text.contains("caution: the devices differ"), "{text}");
    Ok(())
}

#[test]
fn counts_are_the_same_in_every_run() -> Result<()> {
    let device = device();
    let mut step = training(&device)?;
    for _ in 0..3 {
        step()?;
    }
    let first = count(&device, &mut step)?;
    let second = count(&device, &mut step)?;
    // The launches of so small a step are submitted with the copy of its loss, or just before it.
    for submits in [first.submits, second.submits] {
        assert!(submits.is_some_and(|n| n <= 2), "{submits:?}");
    }
    assert_eq!(Counts { submits: first.submits, ..second }, first);
    assert!(first.launches > 3 && first.bytes() > 0 && first.ops > 0);
    first.assert_launches(first.launches).assert_fresh_allocations(0).assert_bytes(first.bytes());
    let fails = |f: &dyn Fn()| std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).is_err();
    assert!(fails(&|| drop(first.assert_launches(first.launches - 1).clone())));
    assert!(fails(&|| drop(first.assert_bytes(first.bytes() - 1).clone())));
    assert!(fails(&|| drop(first.assert_peak_bytes(first.peak_bytes - 1).clone())));
    let x = Tensor::ones(&[1 << 20], DType::F32, &device)?;
    let fresh = count(&device, || x.exp()?.eval())?;
    assert!(fails(&|| drop(fresh.assert_fresh_allocations(0).clone())));
    Ok(())
}

/// Adapters without timestamps inside passes, or without any, are timed otherwise and say so.
#[cfg(all(feature = "wgpu", not(target_family = "wasm")))]
#[test]
fn coarser_clocks_time_every_launch_too() -> Result<()> {
    use crate::device::wgpu::Wgpu;
    if Device::names().len() == 1 {
        println!("no adapter: not covered");
        return Ok(());
    }
    for clock in [Clock::Timestamps, Clock::Passes, Clock::Submits] {
        let device = Device::with_backend(std::sync::Arc::new(Wgpu::open("wgpu")?.timed_with(clock)));
        let mut step = training(&device)?;
        let mut distinct = || -> Result<bool> {
            let p = profile_with(&device, &options("step"), &mut step)?;
            assert_eq!(p.clock, clock);
            assert_eq!(p.kernels.iter().map(|k| k.count).sum::<u64>(), p.counts.launches);
            assert!(p.timeline.launches.windows(2).all(|pair| pair[0].end <= pair[1].end), "{clock:?}");
            assert!(p.to_string().contains(&clock.to_string()));
            assert!(p.counts.submits.is_some_and(|n| n > 0));
            let distinct = p.timeline.launches.windows(2).filter(|pair| pair[0].end < pair[1].end).count();
            Ok(distinct * 2 > p.timeline.launches.len())
        };
        // Where the machine is busy, what timing costs can be taken for more than short launches take.
        let found = (0..5).map(|_| distinct()).find(|found| !matches!(found, Ok(false)));
        assert!(found.unwrap_or(Ok(false))?, "{clock:?}: launches have times of their own");
    }
    Ok(())
}
