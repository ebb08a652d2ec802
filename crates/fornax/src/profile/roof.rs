//! The roof over a kernel: no kernel moves its bytes or does its operations faster than the device's measured peaks
//! allow, nor takes less than a launch.

use crate::dtype::DType;
use crate::kernel::{Body, Kernel, Work};
use crate::peaks::Peaks;
use serde::{Deserialize, Serialize};

/// The measured peaks of a device that kernels are judged by.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roof {
    /// Bytes a second that a kernel reads and writes.
    pub copy: f64,
    /// Bytes a second that a kernel reads.
    pub read: f64,
    /// Operations a second in f32; a multiply-add counts two.
    pub f32: f64,
    /// Operations a second on f16 operands, where the device computes with them.
    pub f16: Option<f64>,
    /// Operations a second of cooperative matrices on f16 operands, where there are any.
    pub cooperative: Option<f64>,
    /// Seconds that one more launch takes.
    pub launch: f64,
    /// Bytes a second from the host to the device.
    pub upload: f64,
    /// Bytes a second from the device to the host.
    pub readback: f64,
}

/// Which units a kernel computes with, and so which peak it is judged by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// f32, and what is computed in f32.
    F32,
    /// Products of f16 matrices: the fastest units that the device has for them.
    Half,
    /// f64 and others, of which no peak was measured.
    Other,
}

/// What keeps a kernel from being faster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// Its bytes.
    Memory,
    /// Its operations.
    Compute,
    /// Nothing that it does: it is smaller than a launch.
    Launch,
}

impl Bound {
    /// The name for people.
    pub fn name(self) -> &'static str {
        match self {
            Bound::Memory => "memory",
            Bound::Compute => "compute",
            Bound::Launch => "launch",
        }
    }
}

impl Arithmetic {
    /// What a kernel computes with.
    pub(super) fn of(kernel: &Kernel) -> Arithmetic {
        let ports = || kernel.reads.iter().chain(&kernel.writes);
        match &kernel.body {
            Body::MatMul(m) if m.left.dtype == DType::F16 && m.right.dtype == DType::F16 => Arithmetic::Half,
            _ if ports().any(|p| p.dtype == DType::F64) => Arithmetic::Other,
            _ => Arithmetic::F32,
        }
    }
}

impl From<&Peaks> for Roof {
    fn from(peaks: &Peaks) -> Roof {
        Roof {
            copy: peaks.copy.value,
            read: peaks.read.value,
            f32: peaks.f32.value,
            f16: peaks.f16.map(|m| m.value),
            cooperative: peaks.cooperative.map(|m| m.value),
            launch: peaks.launch.value,
            upload: peaks.upload.value,
            readback: peaks.readback.value,
        }
    }
}

impl Roof {
    /// Operations a second of some units, if that was measured.
    // Inlined into a loop over an `Option<Roof>`, the optimiser reads `cooperative` and `f16` of a roof that is not there,
    // through an index made of their bytes (seen at opt-level 1): the process then dies.
    #[inline(never)]
    pub fn rate(&self, arithmetic: Arithmetic) -> Option<f64> {
        match arithmetic {
            Arithmetic::F32 => Some(self.f32),
            Arithmetic::Half => Some(self.cooperative.or(self.f16).unwrap_or(self.f32)),
            Arithmetic::Other => None,
        }
    }

    /// Bytes a second: the faster of copying and reading.
    pub fn memory(&self) -> f64 {
        self.copy.max(self.read)
    }

    /// The least seconds for some work, by its bytes or its operations, and which of them it is.
    pub fn least(&self, work: &Work, arithmetic: Arithmetic) -> (f64, Bound) {
        let memory = (work.bytes_read + work.bytes_written) as f64 / self.memory();
        let compute = self.rate(arithmetic).map_or(0.0, |rate| work.ops as f64 / rate);
        let (least, bound) =
            if compute > memory { (compute, Bound::Compute) } else { (memory, Bound::Memory) };
        if least < self.launch { (least, Bound::Launch) } else { (least, bound) }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// 1 TB/s, 10 TFLOP/s in f32, 100 in f16 matrices, 2 µs a launch.
    pub const ROOF: Roof = Roof {
        copy: 1e12,
        read: 8e11,
        f32: 1e13,
        f16: Some(2e13),
        cooperative: Some(1e14),
        launch: 2e-6,
        upload: 2e10,
        readback: 1e10,
    };

    #[test]
    fn the_slowest_of_bytes_operations_and_launch_bounds() {
        let work = |read, written, ops| Work { bytes_read: read, bytes_written: written, ops };
        let least = |w| ROOF.least(&w, Arithmetic::F32);
        assert_eq!(least(work(500_000_000, 500_000_000, 1)), (1e-3, Bound::Memory));
        let reading = Roof { read: 1.25e12, ..ROOF }.least(&work(1_250_000_000, 0, 1), Arithmetic::F32);
        assert_eq!(reading, (1e-3, Bound::Memory));
        assert_eq!(least(work(0, 8, 10_000_000_000)), (1e-3, Bound::Compute));
        assert_eq!(least(work(500_000, 500_000, 0)), (1e-6, Bound::Launch));
        assert_eq!(ROOF.least(&work(0, 8, 10_000_000_000), Arithmetic::Half).0, 1e-4);
        // Without a measured rate only the bytes are known.
        let (seconds, bound) = ROOF.least(&work(4_000_000, 4_000_000, u64::MAX), Arithmetic::Other);
        assert_eq!((seconds, bound), (8e-6, Bound::Memory));
        let poor = Roof { cooperative: None, f16: None, ..ROOF };
        assert_eq!(poor.rate(Arithmetic::Half), Some(1e13));
    }
}
