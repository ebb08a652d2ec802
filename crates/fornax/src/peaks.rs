//! What a device can do at most, measured and not looked up: the roof under which kernels are judged. Everything runs
//! through the public path with the engine's own kernels, so that a roof is something a kernel can reach.
//!
//! Arithmetic comes from two kernels, and the faster one counts. One is a large product. The other is a map that makes
//! values from a row and a column, takes each through a long chain of multiplies and adds in registers, and stores a
//! half: hundreds of operations for a byte, where devices need tens to be bound by arithmetic. Its factors are launch
//! arguments, so nothing can be folded; and a chain of four times the length must take at least twice the time,
//! otherwise it does not count.

use crate::device::{Backend, Device, TimingMode};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::store;
use crate::tensor::Tensor;
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use web_time::{Instant, SystemTime, UNIX_EPOCH};

/// Seconds that a case runs before it counts: clocks rise, plans are built, pages are touched.
const WARM: f64 = 0.06;
/// Seconds that the counted calls of a case may take together.
const BUDGET: f64 = 0.12;
/// Bytes a second from which on memory is measured with more of it.
const FAST: f64 = 5e11;
/// About how many seconds one call of a compute-bound kernel should take.
const CALL: f64 = 0.02;
/// Pairs of a multiply and an add in the shorter and the longer chain.
const PAIRS: [usize; 2] = [120, 480];
/// Elements of a row of the chain.
const ROW: usize = 1024;

/// A measured number and how much it varied: from the slowest to the fastest tenth of the calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// That of the fastest tenth of the calls: noise only ever slows them.
    pub value: f64,
    /// In the same unit.
    pub spread: f64,
}

/// What a device can do at most.
#[derive(Clone, Debug, PartialEq)]
pub struct Peaks {
    /// Bytes a second, read and written, of a map that does one operation on one tensor or on two, whichever is faster.
    pub copy: Measured,
    /// Bytes a second of a sum.
    pub read: Measured,
    /// Operations a second in f32; a multiply-add counts two.
    pub f32: Measured,
    /// Operations a second on f16 operands without cooperative matrices.
    pub f16: Option<Measured>,
    /// Operations a second of a product of f16 matrices on cooperative matrices, where there are any.
    pub cooperative: Option<Measured>,
    /// Seconds that one more launch takes in a chain of dependent ones.
    pub launch: Measured,
    /// Bytes a second from the host to the device.
    pub upload: Measured,
    /// Bytes a second from the device to the host.
    pub readback: Measured,
    /// When that was measured.
    pub when: SystemTime,
}

impl Peaks {
    /// Bytes a second between memory and kernels, however they are mixed: the faster of copying and reading.
    pub fn memory(&self) -> Measured {
        if self.read.value > self.copy.value { self.read } else { self.copy }
    }
}

impl Device {
    /// What the device can do at most. Measured once, in a few seconds, and remembered on disk for this adapter,
    /// driver and version.
    pub fn peaks(&self) -> Result<Peaks> {
        match self.remembered_peaks() {
            Some(peaks) => Ok(peaks),
            None => self.measure_peaks(),
        }
    }

    /// What was measured before and is still true of this adapter, driver and version.
    pub fn remembered_peaks(&self) -> Option<Peaks> {
        let mut kept = self.0.peaks.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        if kept.is_none() {
            let bytes = store::load("peaks", &key(&*self.0.backend));
            *kept = bytes.and_then(|bytes| parse(std::str::from_utf8(&bytes).ok()?));
        }
        kept.clone()
    }

    /// Measures what the device can do at most, and remembers it. The device should have nothing else to do.
    pub fn measure_peaks(&self) -> Result<Peaks> {
        let peaks = measure(&self.0.backend)?;
        store::save("peaks", &key(&*self.0.backend), text(&peaks).as_bytes());
        *self.0.peaks.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some(peaks.clone());
        Ok(peaks)
    }
}

/// How figures are measured: those of another way are measured again.
const WAY: u32 = 2;

/// Whom the figures are true of.
fn key(backend: &dyn Backend) -> String {
    let build = if cfg!(debug_assertions) { "debug" } else { "release" };
    format!("{}\nfornax {} {build}, way {WAY}", backend.identity(), env!("CARGO_PKG_VERSION"))
}

fn text(peaks: &Peaks) -> String {
    let mut out = String::new();
    let when = peaks.when.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    let _ = writeln!(out, "when {when} 0");
    for (name, measured) in [
        ("copy", Some(peaks.copy)),
        ("read", Some(peaks.read)),
        ("f32", Some(peaks.f32)),
        ("f16", peaks.f16),
        ("cooperative", peaks.cooperative),
        ("launch", Some(peaks.launch)),
        ("upload", Some(peaks.upload)),
        ("readback", Some(peaks.readback)),
    ] {
        if let Some(Measured { value, spread }) = measured {
            let _ = writeln!(out, "{name} {value:e} {spread:e}");
        }
    }
    out
}

fn parse(text: &str) -> Option<Peaks> {
    let of = |name: &str| -> Option<Measured> {
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))?;
        let (value, spread) = line.split_once(' ')?;
        Some(Measured { value: value.parse().ok()?, spread: spread.parse().ok()? })
    };
    Some(Peaks {
        copy: of("copy")?,
        read: of("read")?,
        f32: of("f32")?,
        f16: of("f16"),
        cooperative: of("cooperative"),
        launch: of("launch")?,
        upload: of("upload")?,
        readback: of("readback")?,
        when: UNIX_EPOCH + Duration::from_secs(of("when")?.value as u64),
    })
}

fn measure(backend: &Arc<dyn Backend>) -> Result<Peaks> {
    // A handle of its own: the user's pool, plans, timings and statistics stay as they are.
    let device = &Device::with_backend(backend.clone());
    let (copy, read) = memory(device)?;
    let rows = chain_rows(device)?;
    let n = product_size(device)?;
    let f32 = faster(chain_rate(device, rows, DType::F32)?, Some(product_rate(device, n, DType::F32)?));
    let f32 = f32.ok_or_else(|| Error::Internal("peaks: nothing was measured".into()))?;
    let chain = chain_rate(device, rows, DType::F16)?;
    let product = product_rate(device, n, DType::F16)?;
    let (f16, cooperative) = match backend.cooperative() {
        true => (chain, Some(product)),
        false => (faster(chain, Some(product)), None),
    };
    let launch = launches(device)?;
    let (upload, readback) = transfers(device)?;
    let when = SystemTime::now();
    Ok(Peaks { copy, read, f32, f16, cooperative, launch, upload, readback, when })
}

/// The faster of two measurements, as far as there are any.
fn faster(a: Option<Measured>, b: Option<Measured>) -> Option<Measured> {
    [a, b].into_iter().flatten().max_by(|a, b| a.value.total_cmp(&b.value))
}

/// How long calls took, the fastest first.
struct Times(Vec<f64>);

impl Times {
    /// Runs `one`, which says how long it took, until the device is warm and then often enough.
    fn of(mut one: impl FnMut() -> Result<f64>) -> Result<Times> {
        one()?;
        let start = Instant::now();
        let mut last = one()?;
        while start.elapsed().as_secs_f64() < WARM {
            last = one()?;
        }
        let count = ((BUDGET / last.max(1e-6)) as usize).clamp(3, 200);
        let mut times = (0..count).map(|_| one()).collect::<Result<Vec<f64>>>()?;
        times.sort_by(f64::total_cmp);
        Ok(Times(times))
    }

    /// The time that this part of the calls did not exceed.
    fn at(&self, quantile: f64) -> f64 {
        self.0[((self.0.len() - 1) as f64 * quantile).round() as usize].max(1e-12)
    }

    /// How much of something was done a second.
    fn rate(&self, amount: f64) -> Measured {
        let (fast, slow) = (amount / self.at(0.1), amount / self.at(0.9));
        Measured { value: fast, spread: fast - slow }
    }
}

/// Seconds of the device's clock that a call takes. Short ones follow others at once, so that the device does not rest.
fn seconds(device: &Device, call: &dyn Fn() -> Result<()>) -> Result<f64> {
    let timed = || -> Result<f64> {
        device.set_timing(TimingMode::Plans);
        let done = call();
        device.set_timing(TimingMode::Off);
        let timings = device.take_timings();
        done?;
        let begin = timings.iter().map(|t| t.begin).fold(f64::INFINITY, f64::min);
        let end = timings.iter().map(|t| t.end).fold(f64::NEG_INFINITY, f64::max);
        Ok((end - begin).max(0.0))
    };
    let first = timed()?;
    if first > 2e-3 {
        return Ok(first);
    }
    for _ in 0..3 {
        call()?;
    }
    timed()
}

/// Copy and read bandwidth, of more than any cache holds. Copying is the faster of two maps: one of a tensor to another,
/// and one of two to a third.
fn memory(device: &Device) -> Result<(Measured, Measured)> {
    let best = |a: Measured, b: Measured| if b.value > a.value { b } else { a };
    let sized = |elements: usize| -> Result<(Measured, Measured)> {
        let (x, y) = (random(elements, device)?, random(elements, device)?);
        let bytes = 4.0 * elements as f64;
        let one = Times::of(|| seconds(device, &|| x.add(1.0)?.eval()))?.rate(2.0 * bytes);
        let two = Times::of(|| seconds(device, &|| x.add(&y)?.eval()))?.rate(3.0 * bytes);
        let read = Times::of(|| seconds(device, &|| x.sum_all()?.eval()))?.rate(bytes);
        Ok((best(one, two), read))
    };
    // Small devices have no room, or cannot bind as much at once.
    let usual = sized(1 << 26).or_else(|_| sized(1 << 24)).or_else(|_| sized(1 << 22))?;
    if usual.0.value < FAST {
        return Ok(usual);
    }
    // It took a tenth of a millisecond, of which beginning and ending are a part.
    let large = sized(1 << 28).unwrap_or(usual);
    Ok((best(usual.0, large.0), best(usual.1, large.1)))
}

fn random(elements: usize, device: &Device) -> Result<Tensor> {
    let x = Tensor::rand(&[elements], DType::F32, device)?;
    x.eval()?;
    Ok(x)
}

/// A row and a column make values, which go through multiplies and adds.
struct Chain {
    row: Tensor,
    column: Tensor,
    /// Launch arguments: nobody who compiles the kernel knows them, so nothing can be folded.
    factors: [Tensor; 2],
}

impl Chain {
    fn new(rows: usize, dtype: DType, device: &Device) -> Result<Chain> {
        let ready = |shape: &[usize]| -> Result<Tensor> {
            let x = Tensor::rand(shape, DType::F32, device)?.to_dtype(dtype)?;
            x.eval()?;
            Ok(x)
        };
        let factors = [Tensor::scalar(0.999, dtype, device)?, Tensor::scalar(0.001, dtype, device)?];
        Ok(Chain { row: ready(&[1, ROW])?, column: ready(&[rows, 1])?, factors })
    }

    fn ends(&self, pairs: usize) -> Result<Tensor> {
        let mut u = self.row.add(&self.column)?;
        for _ in 0..pairs {
            u = u.mul(&self.factors[0])?.add(&self.factors[1])?;
        }
        u.to_dtype(DType::F16)
    }

    fn times(&self, pairs: usize) -> Result<Times> {
        Times::of(|| seconds(self.row.device(), &|| self.ends(pairs)?.eval()))
    }

    /// Operations of the pairs alone.
    fn operations(&self, pairs: usize) -> f64 {
        (2 * pairs * ROW * self.column.numel()) as f64
    }
}

/// How many times larger a job may become, in powers of two up to `most`, until a call takes long enough.
fn growth(one: f64, most: usize) -> usize {
    let fits = (CALL / one.max(1e-9)).clamp(1.0, most as f64) as usize;
    1 << fits.ilog2()
}

/// The quickest of a few calls.
fn quick(device: &Device, call: &dyn Fn() -> Result<()>) -> Result<f64> {
    call()?;
    (0..3).try_fold(f64::INFINITY, |least, _| Ok(seconds(device, call)?.min(least)))
}

/// How many rows make the chain long enough to be timed well.
fn chain_rows(device: &Device) -> Result<usize> {
    const LEAST: usize = 1 << 8;
    let chain = Chain::new(LEAST, DType::F32, device)?;
    Ok(LEAST * growth(quick(device, &|| chain.ends(PAIRS[1])?.eval())?, 1 << 8))
}

fn chain_rate(device: &Device, rows: usize, dtype: DType) -> Result<Option<Measured>> {
    let chain = Chain::new(rows, dtype, device)?;
    let [short, long] = [chain.times(PAIRS[0])?, chain.times(PAIRS[1])?];
    Ok(was_done(short.at(0.1), long.at(0.1)).then(|| long.rate(chain.operations(PAIRS[1]))))
}

/// Whether the arithmetic was really done: four times as much took at least twice the time.
fn was_done(short: f64, long: f64) -> bool {
    long > 2.0 * short
}

fn product(n: usize, dtype: DType, device: &Device) -> Result<[Tensor; 2]> {
    let operand = || -> Result<Tensor> {
        let x = Tensor::randn(&[n, n], DType::F32, device)?.to_dtype(dtype)?;
        x.eval()?;
        Ok(x)
    };
    Ok([operand()?, operand()?])
}

/// How large a product must be to be timed well.
fn product_size(device: &Device) -> Result<usize> {
    const LEAST: usize = 512;
    let [x, y] = product(LEAST, DType::F32, device)?;
    // Twice the size is eight times the work.
    let growth = growth(quick(device, &|| x.matmul(&y)?.eval())?, 512);
    Ok(LEAST << (growth.ilog2() / 3))
}

fn product_rate(device: &Device, n: usize, dtype: DType) -> Result<Measured> {
    let [x, y] = product(n, dtype, device)?;
    let times = Times::of(|| seconds(device, &|| x.matmul(&y)?.eval()))?;
    Ok(times.rate(2.0 * (n as f64).powi(3)))
}

/// Runs so many launches that depend on each other.
pub(crate) fn chain(x: &Tensor, launches: usize) -> Result<()> {
    let mut u = x.clone();
    for _ in 0..launches {
        u = u.add(1.0)?.fence();
    }
    u.eval()
}

/// What one more of a chain of dependent launches costs: the difference between a long and a short chain.
fn launches(device: &Device) -> Result<Measured> {
    const COUNTS: [usize; 2] = [32, 288];
    let x = Tensor::rand(&[64], DType::F32, device)?;
    x.eval()?;
    let times = |count: usize| Times::of(|| seconds(device, &|| chain(&x, count)));
    let (short, long) = (times(COUNTS[0])?, times(COUNTS[1])?);
    let more = (COUNTS[1] - COUNTS[0]) as f64;
    let value = (long.at(0.1) - short.at(0.1)).max(0.0) / more;
    Ok(Measured { value, spread: (long.at(0.9) - long.at(0.1)) / more })
}

/// To the device and back, by the host's clock.
fn transfers(device: &Device) -> Result<(Measured, Measured)> {
    const BYTES: usize = 64 << 20;
    let data = vec![1u8; BYTES];
    let upload = || Tensor::from_bytes(&data, &[BYTES], DType::U8, device);
    let there = upload()?;
    let up = Times::of(|| {
        let start = Instant::now();
        let _kept = upload()?;
        device.synchronize()?;
        Ok(start.elapsed().as_secs_f64())
    })?;
    let back = Times::of(|| {
        let start = Instant::now();
        std::hint::black_box(there.to_bytes()?);
        Ok(start.elapsed().as_secs_f64())
    })?;
    Ok((up.rate(BYTES as f64), back.rate(BYTES as f64)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some(value: f64) -> Measured {
        Measured { value, spread: value / 16.0 }
    }

    #[test]
    fn peaks_survive_their_text() {
        let peaks = Peaks {
            copy: some(4.25e12),
            read: some(4e12),
            f32: some(6e13),
            f16: None,
            cooperative: Some(some(2.5e14)),
            launch: some(2e-6),
            upload: some(1e10),
            readback: some(1e9),
            when: UNIX_EPOCH + Duration::from_secs(1_800_000_000),
        };
        assert_eq!(parse(&text(&peaks)), Some(peaks.clone()));
        let torn: String = text(&peaks).lines().filter(|l| !l.starts_with("launch")).collect();
        assert_eq!(parse(&torn), None);
        assert_eq!(parse(""), None);
    }

    /// The rate counts operations that the kernel must really do, and memory cannot be what bounds it.
    #[test]
    fn the_chain_is_one_kernel_of_arithmetic() {
        for dtype in [DType::F32, DType::F16] {
            let chain = Chain::new(64, dtype, &Device::cpu()).unwrap();
            let plan = chain.ends(PAIRS[1]).unwrap().plan().unwrap();
            assert_eq!(plan.steps.len(), 1, "{plan}");
            let work = plan.steps[0].kernel.work;
            assert!(work.ops as f64 >= chain.operations(PAIRS[1]));
            assert!(work.ops > 400 * (work.bytes_read + work.bytes_written), "{work:?}");
        }
    }

    #[test]
    fn arithmetic_that_took_no_time_was_not_done() {
        assert!(was_done(1.0, 4.0) && was_done(1.0, 2.5));
        assert!(!was_done(1.0, 1.0) && !was_done(1.0, 1.5));
    }

    #[test]
    fn jobs_grow_to_what_can_be_timed() {
        assert_eq!(growth(1.0, 256), 1);
        assert_eq!(growth(CALL / 5.0, 256), 4);
        assert_eq!(growth(0.0, 256), 256);
    }

    #[test]
    fn rates_are_those_of_the_fastest_tenth() {
        let times = Times((1..=11).map(f64::from).collect());
        let rate = times.rate(20.0);
        assert_eq!((rate.value, rate.spread), (10.0, 8.0));
    }
}
