//! What is timed. Cases that the PyTorch scripts have too bear the same names and shapes there.

mod engine;
mod loops;
mod products;
mod steps;

use crate::timing::Clock;
use fornax::{DType, Device, Peaks, Result, Tensor};

/// A case by name. `prepare` makes its data, which is not timed.
pub struct Case {
    pub name: String,
    pub clock: Clock,
    /// About how many seconds the timed calls may take together.
    pub budget: f64,
    pub prepare: Prepare,
}

type Prepare = Box<dyn Fn(&Device) -> Result<Prepared>>;

/// What one timed call does.
pub struct Prepared {
    pub call: Box<dyn FnMut() -> Result<()>>,
    /// How much of what the device can do it needs.
    pub work: Vec<(Roof, f64)>,
    /// The call's time is divided by this many parts.
    pub calls_are: u64,
}

/// What bounds a call. The amount that goes with it is in bytes, operations or launches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Roof {
    /// Bytes that must be read and written.
    Memory,
    /// Operations of f32 values.
    F32,
    /// Operations of products of f16 matrices.
    F16,
    /// Launches that wait for each other.
    Launch,
    /// Bytes from the host.
    Upload,
    /// Bytes to the host.
    ReadBack,
}

impl Roof {
    /// The name in tables.
    pub fn name(self) -> &'static str {
        match self {
            Roof::Memory => "memory",
            Roof::F32 | Roof::F16 => "arithmetic",
            Roof::Launch => "launch",
            Roof::Upload => "upload",
            Roof::ReadBack => "read back",
        }
    }

    pub fn is_bytes(self) -> bool {
        matches!(self, Roof::Memory | Roof::Upload | Roof::ReadBack)
    }

    pub fn is_operations(self) -> bool {
        matches!(self, Roof::F32 | Roof::F16)
    }

    /// The least seconds that an amount can take.
    fn seconds(self, amount: f64, peaks: &Peaks) -> Option<f64> {
        let rate = match self {
            Roof::Memory => peaks.memory(),
            Roof::F32 => peaks.f32,
            Roof::F16 => peaks.cooperative.or(peaks.f16)?,
            Roof::Launch => return Some(amount * peaks.launch.value),
            Roof::Upload => peaks.upload,
            Roof::ReadBack => peaks.readback,
        };
        (rate.value > 0.0).then(|| amount / rate.value)
    }
}

/// What bounds a call most, and the least seconds it can take for that.
pub fn bound(work: &[(Roof, f64)], peaks: &Peaks) -> Option<(Roof, f64)> {
    let limits = work.iter().filter_map(|&(roof, amount)| Some((roof, roof.seconds(amount, peaks)?)));
    limits.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, seconds)| *seconds > 0.0)
}

impl Prepared {
    fn new(call: impl FnMut() -> Result<()> + 'static) -> Prepared {
        Prepared { call: Box::new(call), work: vec![], calls_are: 1 }
    }

    fn needs(mut self, roof: Roof, amount: f64) -> Prepared {
        self.work.push((roof, amount));
        self
    }

    /// Reads or writes this many f32.
    fn floats(self, moved: usize) -> Prepared {
        self.needs(Roof::Memory, 4.0 * moved as f64)
    }

    /// Does this many operations of f32.
    fn operations(self, operations: f64) -> Prepared {
        self.needs(Roof::F32, operations)
    }

    fn in_parts(self, parts: u64) -> Prepared {
        Prepared { calls_are: parts, ..self }
    }
}

fn case(name: &str, prepare: impl Fn(&Device) -> Result<Prepared> + 'static) -> Case {
    Case { name: name.into(), clock: Clock::Device, budget: 1.5, prepare: Box::new(prepare) }
}

/// A case that is timed by the wall's clock on every device.
fn wall(name: &str, prepare: impl Fn(&Device) -> Result<Prepared> + 'static) -> Case {
    Case { clock: Clock::Wall, ..case(name, prepare) }
}

fn randn(shape: &[usize], device: &Device) -> Result<Tensor> {
    randn_of(shape, DType::F32, device)
}

fn randn_of(shape: &[usize], dtype: DType, device: &Device) -> Result<Tensor> {
    let x = Tensor::randn(shape, DType::F32, device)?.to_dtype(dtype)?;
    x.eval()?;
    Ok(x)
}

fn randint(high: usize, shape: &[usize], device: &Device) -> Result<Tensor> {
    let x = Tensor::randint(0, high as i64, shape, DType::I64, device)?;
    x.eval()?;
    Ok(x)
}

/// The cases of a device, in the order in which they run.
pub fn of(device: &str) -> Vec<Case> {
    let gpu = if device == "cpu" { vec![] } else { gpu() };
    all().into_iter().chain(gpu).collect()
}

/// The cases of every device.
pub fn all() -> Vec<Case> {
    [products::all(), loops::all(), steps::all(), engine::all()].into_iter().flatten().collect()
}

/// What only a GPU has the memory and the speed for.
pub fn gpu() -> Vec<Case> {
    let all = [loops::gpu(), engine::gpu(), products::gpu(), steps::gpu()];
    all.into_iter().flatten().map(|case| Case { budget: 0.3, ..case }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fornax::Measured;

    fn peaks() -> Peaks {
        let some = |value| Measured { value, spread: 0.0 };
        Peaks {
            copy: some(80.0),
            read: some(100.0),
            f32: some(1000.0),
            f16: None,
            cooperative: Some(some(4000.0)),
            launch: some(0.5),
            upload: some(10.0),
            readback: some(5.0),
            when: std::time::SystemTime::now(),
        }
    }

    #[test]
    fn the_largest_need_bounds() {
        let least = |work: &[(Roof, f64)]| bound(work, &peaks());
        assert_eq!(least(&[(Roof::Memory, 100.0), (Roof::F32, 500.0)]), Some((Roof::Memory, 1.0)));
        assert_eq!(least(&[(Roof::Memory, 100.0), (Roof::F32, 4000.0)]), Some((Roof::F32, 4.0)));
        assert_eq!(least(&[(Roof::Memory, 100.0), (Roof::F16, 4000.0)]), Some((Roof::F16, 1.0)));
        assert_eq!(least(&[(Roof::Upload, 100.0)]), Some((Roof::Upload, 10.0)));
        assert_eq!(least(&[(Roof::Launch, 3.0)]), Some((Roof::Launch, 1.5)));
        assert_eq!(least(&[]), None);
        let none = Peaks { cooperative: None, ..peaks() };
        assert_eq!(bound(&[(Roof::F16, 1.0)], &none), None, "what was not measured bounds nothing");
    }

    #[test]
    fn every_case_has_its_name_alone() {
        let mut names: Vec<String> = of("wgpu").into_iter().map(|case| case.name).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), count);
    }
}
