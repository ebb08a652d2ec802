//! The way of values to the host: at once, later, or awaited.

use super::Tensor;
use crate::device::{Device, Reading};
use crate::dtype::Element;
use crate::error::{Error, Result};
use crate::span::{self, Phase};
use std::cell::Cell;
use std::pin::Pin;
use std::task::{Context, Poll};

thread_local! {
    static READS: Cell<u64> = const { Cell::new(0) };
}

/// How many values were asked for and given on this thread: what was recorded since an earlier count may depend on one.
pub(crate) fn reads() -> u64 {
    READS.get()
}

/// A value on its way to the host, from [`Tensor::to_vec_later`] or [`Tensor::item_later`]. Wait for it, ask whether it has
/// come, or await it: it is a future. What the kernels before it report, such as an index out of range, comes with it.
/// Dropping it is allowed.
#[must_use = "a value that is neither waited for nor awaited is lost"]
pub struct Pending<V> {
    /// Gone once the value was given.
    reading: Option<Box<dyn Reading>>,
    decode: fn(&[u8]) -> V,
    /// Keeps the device open until the bytes are here.
    _device: Device,
}

impl<V> Pending<V> {
    /// Whether [`Pending::wait`] would return at once.
    pub fn ready(&mut self) -> bool {
        self.reading.as_mut().is_none_or(|reading| reading.ready())
    }

    /// Waits for the value. Not in a browser, which must not wait: await it there.
    pub fn wait(mut self) -> Result<V> {
        self.take()
    }

    fn take(&mut self) -> Result<V> {
        READS.set(reads() + 1);
        let given = || Error::Argument { op: "Pending", detail: "the value was given already".into() };
        let mut phase = span::enter(Phase::ReadBack);
        let bytes = self.reading.take().ok_or_else(given)?.wait()?;
        phase.copied(bytes.len());
        Ok((self.decode)(&bytes))
    }
}

impl<V> Future for Pending<V> {
    type Output = Result<V>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<V>> {
        if let Some(reading) = &mut self.reading
            && !reading.wake(context.waker())
        {
            return Poll::Pending;
        }
        Poll::Ready(self.take())
    }
}

impl<V> std::fmt::Debug for Pending<V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(if self.reading.is_some() { "Pending" } else { "Pending(given)" })
    }
}

impl Tensor {
    /// The value as row-major bytes, native endian. Evaluates it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.at_once("to_bytes", self.numel() * self.dtype().size())
    }

    /// The elements, row-major. Evaluates them; the Rust type must match the dtype.
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        self.check_type::<T>("to_vec")?;
        self.at_once("to_vec", self.numel())
    }

    /// The memory as so many elements.
    fn at_once<T: Element>(&self, op: &'static str, count: usize) -> Result<Vec<T>> {
        READS.set(reads() + 1);
        self.eval()?;
        let buffer = self.buffer().ok_or(Error::Stale { op })?;
        T::filled(count, |bytes| {
            let _phase = span::copying(Phase::ReadBack, bytes.len());
            self.device().0.backend.download(buffer.memory(), bytes)
        })
    }

    /// The only element of a tensor of one. Evaluates it.
    pub fn item<T: Element>(&self) -> Result<T> {
        self.check_one("item")?;
        self.check_type::<T>("item")?;
        Ok(self.to_vec::<T>()?[0])
    }

    /// Begins to read the elements behind the work that computes them, and returns at once.
    ///
    /// ```
    /// # use fornax::*;
    /// # let device = Device::best()?;
    /// # let x = Tensor::ones(&[3], DType::F32, &device)?;
    /// let later = x.add(1.0)?.to_vec_later::<f32>()?;
    /// // ... more work ...
    /// assert_eq!(later.wait()?, [2.0; 3]);
    /// # Ok::<(), Error>(())
    /// ```
    pub fn to_vec_later<T: Element>(&self) -> Result<Pending<Vec<T>>> {
        self.check_type::<T>("to_vec_later")?;
        self.later(T::from_bytes)
    }

    /// Begins to read the only element of a tensor of one, and returns at once. A training loop that prints its loss waits
    /// for the last step's here while the GPU works on the next:
    ///
    /// ```
    /// # use fornax::*;
    /// # let device = Device::best()?;
    /// # let x = Tensor::ones(&[3], DType::F32, &device)?;
    /// let mut last: Option<Pending<f32>> = None;
    /// for step in 0..3 {
    ///     let loss = x.mul(step as f32)?.sum_all()?;        // .. and optimizer.step(..)
    ///     if let Some(last) = last.replace(loss.item_later()?) {
    ///         println!("{}", last.wait()?);
    ///     }
    /// }
    /// # Ok::<(), Error>(())
    /// ```
    pub fn item_later<T: Element>(&self) -> Result<Pending<T>> {
        self.check_one("item_later")?;
        self.check_type::<T>("item_later")?;
        self.later(|bytes| T::from_bytes(bytes)[0])
    }

    /// As [`Tensor::to_bytes`], without blocking the thread. Works with any executor.
    pub async fn to_bytes_async(&self) -> Result<Vec<u8>> {
        self.later(<[u8]>::to_vec)?.await
    }

    /// As [`Tensor::to_vec`], without blocking the thread. Works with any executor.
    pub async fn to_vec_async<T: Element>(&self) -> Result<Vec<T>> {
        self.to_vec_later()?.await
    }

    /// As [`Tensor::item`], without blocking the thread. Works with any executor.
    pub async fn item_async<T: Element>(&self) -> Result<T> {
        self.item_later()?.await
    }

    fn later<V>(&self, decode: fn(&[u8]) -> V) -> Result<Pending<V>> {
        READS.set(reads() + 1);
        self.eval()?;
        let buffer = self.buffer().ok_or(Error::Stale { op: "read" })?;
        let bytes = self.numel() * self.dtype().size();
        let reading = self.device().0.backend.read(buffer.memory(), bytes)?;
        Ok(Pending { reading: Some(reading), decode, _device: self.device().clone() })
    }

    fn check_type<T: Element>(&self, op: &'static str) -> Result<()> {
        if T::DTYPE != self.dtype() {
            return Err(Error::WrongType { op, have: self.dtype(), want: T::DTYPE });
        }
        Ok(())
    }

    fn check_one(&self, op: &'static str) -> Result<()> {
        if self.numel() != 1 {
            let detail =
                format!("{:?} has {} elements, not one; reduce it first", self.shape(), self.numel());
            return Err(Error::Shape { op, detail });
        }
        Ok(())
    }
}
