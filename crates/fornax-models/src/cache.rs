//! What a model remembers while it generates: keys and values of every block, for a batch of sequences that may differ in
//! length. The room is fixed and where to write is a launch argument, so every token replays one plan.

use fornax::{AttentionOptions, DType, Device, Error, Result, Tensor, eval_replacing};

/// Keys and values of a batch. Shorter sequences are padded on the left, so that all of them write to one column.
///
/// ```text
///   column    0  1  2  3  4  5  6  7
///   row 0     a  b  c  d  e  .  .  .      padding 0
///   row 1     -  -  -  x  y  .  .  .      padding 3: x has position 0
///                        filled = 5
/// ```
pub struct KvCache {
    /// Keys and values of each block, `[B, H, capacity, D]`; zeros where nothing was written.
    blocks: Vec<[Tensor; 2]>,
    /// How many columns each row leaves free on the left, `[B, 1, 1, 1]`.
    padding: Tensor,
    filled: usize,
    capacity: usize,
}

/// Sizes of a cache.
#[derive(Clone, Copy, Debug)]
pub struct CacheSize {
    /// How many blocks.
    pub layers: usize,
    /// Heads of keys and values.
    pub heads: usize,
    /// The width of a head.
    pub width: usize,
    /// How many columns.
    pub capacity: usize,
}

impl KvCache {
    /// An empty cache for rows that leave `padding` columns free each.
    pub fn new(size: CacheSize, padding: &[usize], device: &Device) -> Result<KvCache> {
        let shape = [padding.len(), size.heads, size.capacity, size.width];
        // Each in memory of its own: they are overwritten in place.
        let zeros = vec![0u8; shape.iter().product::<usize>() * DType::F32.size()];
        let zeros = || Tensor::from_bytes(&zeros, &shape, DType::F32, device);
        let blocks = (0..size.layers).map(|_| Ok([zeros()?, zeros()?])).collect::<Result<_>>()?;
        let columns: Vec<i64> = padding.iter().map(|&n| n as i64).collect();
        let padding = Tensor::from_slice(&columns, &[padding.len(), 1, 1, 1], device)?;
        Ok(KvCache { blocks, padding, filled: 0, capacity: size.capacity })
    }

    /// How many columns are written.
    pub fn filled(&self) -> usize {
        self.filled
    }

    /// How many more can be.
    pub fn free(&self) -> usize {
        self.capacity - self.filled
    }

    /// Records a step of `time` columns. `forward` gets the position of every token `[B, time]` and the attention that
    /// reads and extends this cache; what it returns is computed together with the new content.
    pub fn step(
        &mut self,
        time: usize,
        forward: impl FnOnce(&Tensor, &mut crate::gpt2::Attend) -> Result<Tensor>,
    ) -> Result<Tensor> {
        if time > self.free() {
            let detail = format!("{time} more tokens; {} of {} are taken", self.filled, self.capacity);
            return Err(Error::Argument { op: "KvCache", detail });
        }
        let device = self.padding.device().clone();
        // The number where it starts is a launch argument.
        let columns = Tensor::arange(self.filled, self.filled + time, 1, DType::I64, &device)?;
        let columns = columns.reshape(&[1, 1, -1, 1])?; // (1, 1, T, 1)
        let all = Tensor::arange(0, self.capacity, 1, DType::I64, &device)?; // (capacity)
        let seen = all.le(&columns)?.logical_and(&all.ge(&self.padding)?)?; // (B, 1, T, capacity)
        let positions = columns.sub(&self.padding)?.maximum(0)?; // (B, 1, T, 1)
        let positions = positions.reshape(&[-1, time as isize])?;

        let mut new: Vec<[Tensor; 2]> = Vec::with_capacity(self.blocks.len());
        let options = AttentionOptions { mask: Some(&seen), ..Default::default() };
        let mut attend = |q: &Tensor, k: &Tensor, v: &Tensor| {
            let Some(old) = self.blocks.get(new.len()) else {
                return Err(Error::Internal("more blocks than the cache has".into()));
            };
            // Zeros are there: adding is writing.
            let write = |old: &Tensor, x: &Tensor| old.scatter_add(2, &columns.expand(x.shape())?, x);
            let (k, v) = (write(&old[0], k)?, write(&old[1], v)?);
            new.push([k.clone(), v.clone()]);
            q.scaled_dot_product_attention(&k, &v, &options)
        };
        let result = forward(&positions, &mut attend)?;
        let pairs = new.iter().zip(&self.blocks).flat_map(|(new, old)| new.iter().zip(old));
        eval_replacing(&[&result], &pairs.collect::<Vec<_>>())?;
        self.blocks = new;
        self.filled += time;
        Ok(result)
    }
}
