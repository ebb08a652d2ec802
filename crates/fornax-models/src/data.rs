//! Training data: sequences of token ids, and batches of windows into them. A batch is a function of the seed and of
//! how many windows were drawn before, so a run that goes on from a position sees what it would have seen.

use fornax::random::threefry;
use fornax::{Device, Error, Result, Tensor};
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// Token ids, in memory or in a file.
#[derive(Clone)]
pub struct Tokens {
    source: Source,
    range: Range<u64>,
}

#[derive(Clone)]
enum Source {
    Memory(Arc<[u32]>),
    File(Arc<(Mutex<File>, String)>),
}

impl Tokens {
    /// Ids in memory.
    pub fn new(ids: Vec<u32>) -> Tokens {
        Tokens { range: 0..ids.len() as u64, source: Source::Memory(ids.into()) }
    }

    /// A file of little-endian 16-bit ids and nothing else. It is read window by window, so it may be larger than
    /// the memory.
    pub fn open(path: impl AsRef<Path>) -> Result<Tokens> {
        let name = path.as_ref().display().to_string();
        let io = |source| Error::Io { path: name.clone(), source };
        let file = File::open(&path).map_err(io)?;
        let bytes = file.metadata().map_err(io)?.len();
        if bytes % 2 == 1 {
            let detail = format!("{bytes} bytes are no whole number of 16-bit tokens");
            return Err(Error::Format { path: name, detail });
        }
        Ok(Tokens { source: Source::File(Arc::new((Mutex::new(file), name))), range: 0..bytes / 2 })
    }

    /// How many there are.
    pub fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.range.is_empty()
    }

    /// The first `count` and the rest.
    pub fn split_at(&self, count: u64) -> (Tokens, Tokens) {
        let middle = self.range.start + count.min(self.len());
        let part = |range| Tokens { source: self.source.clone(), range };
        (part(self.range.start..middle), part(middle..self.range.end))
    }

    /// `count` ids from `start` on.
    pub fn read(&self, start: u64, count: usize) -> Result<Vec<u32>> {
        if start.checked_add(count as u64).is_none_or(|end| end > self.len()) {
            let detail = format!("{count} tokens from {start} on, of {}", self.len());
            return Err(Error::Index { op: "Tokens::read", detail });
        }
        let start = self.range.start + start;
        match &self.source {
            Source::Memory(ids) => Ok(ids[start as usize..start as usize + count].to_vec()),
            Source::File(file) => {
                let (file, name) = &**file;
                let mut bytes = vec![0; 2 * count];
                let mut file = file.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                file.seek(SeekFrom::Start(2 * start))
                    .and_then(|_| file.read_exact(&mut bytes))
                    .map_err(|source| Error::Io { path: name.clone(), source })?;
                Ok(bytes.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]) as u32).collect())
            }
        }
    }
}

/// Windows of `context` tokens, `batch` at a time, each with what follows every one of them. All windows of an epoch
/// are disjoint and come in an order of its own; the next epoch cuts the tokens elsewhere.
///
/// ```
/// use fornax_models::{Batches, Tokens};
/// let mut batches = Batches::new(Tokens::new((0..100).collect()), 4, 10, 0)?;
/// let [ids, targets] = batches.next(&fornax::Device::cpu())?;
/// assert_eq!(ids.shape(), [4, 10]);
/// assert_eq!(ids.to_vec::<u32>()?[1], targets.to_vec::<u32>()?[0]);
/// assert_eq!(batches.position(), 4);
/// # Ok::<(), fornax::Error>(())
/// ```
pub struct Batches {
    tokens: Tokens,
    batch: usize,
    context: usize,
    seed: u32,
    position: u64,
    vocabulary: Option<u32>,
}

impl Batches {
    /// Batches of these sizes.
    pub fn new(tokens: Tokens, batch: usize, context: usize, seed: u64) -> Result<Batches> {
        let wrong = |detail| Err(Error::Argument { op: "Batches", detail });
        if batch == 0 || context == 0 {
            return wrong(format!("a batch of {batch} windows of {context} tokens is nothing"));
        }
        if tokens.len() <= context as u64 {
            let (have, need) = (tokens.len(), context + 1);
            return wrong(format!("{have} tokens; a context of {context} needs {need} at least"));
        }
        let seed = (seed ^ (seed >> 32)) as u32;
        Ok(Batches { tokens, batch, context, seed, position: 0, vocabulary: None })
    }

    /// The same, checking that every id is less than `vocabulary`.
    pub fn checked(self, vocabulary: usize) -> Batches {
        Batches { vocabulary: u32::try_from(vocabulary).ok(), ..self }
    }

    /// What the windows look into.
    pub fn tokens(&self) -> &Tokens {
        &self.tokens
    }

    /// How many windows were drawn.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Goes on as if this many windows had been drawn.
    pub fn set_position(&mut self, position: u64) {
        self.position = position;
    }

    /// How many windows an epoch has.
    pub fn windows(&self) -> u64 {
        // One is given up, so that an epoch can begin anywhere in the first window.
        let whole = (self.tokens.len() - 1) / self.context as u64;
        whole.saturating_sub(1).max(1)
    }

    /// The next batch: ids and targets, u32 of shape `[batch, context]`.
    pub fn next(&mut self, device: &Device) -> Result<[Tensor; 2]> {
        let (mut ids, mut targets) = (vec![], vec![]);
        for number in self.position..self.position + self.batch as u64 {
            let window = self.tokens.read(self.start(number), self.context + 1)?;
            if let Some(&id) = window.iter().find(|&&id| self.vocabulary.is_some_and(|size| id >= size)) {
                let size = self.vocabulary.unwrap_or_default();
                let detail = format!("the data has the token {id}, the model knows those under {size}");
                return Err(Error::Index { op: "Batches", detail });
            }
            ids.extend_from_slice(&window[..self.context]);
            targets.extend_from_slice(&window[1..]);
        }
        self.position += self.batch as u64;
        let shape = [self.batch, self.context];
        Ok([Tensor::from_slice(&ids, &shape, device)?, Tensor::from_slice(&targets, &shape, device)?])
    }

    /// Where the window with this number begins.
    fn start(&self, number: u64) -> u64 {
        let (windows, context) = (self.windows(), self.context as u64);
        let (epoch, index) = (number / windows, number % windows);
        let slack = (self.tokens.len() - 1 - windows * context).min(context - 1);
        let shift = threefry(self.seed, epoch as u32, u64::MAX).0 as u64 % (slack + 1);
        shift + context * permuted(index, windows, self.seed, epoch as u32)
    }
}

/// The place of `index` in an order of `0..count` that the key gives: a Feistel network over the next power of four,
/// walked until it lands inside.
fn permuted(index: u64, count: u64, seed: u32, epoch: u32) -> u64 {
    let half = (64 - (count - 1).leading_zeros()).div_ceil(2).max(1);
    let mask = (1u64 << half) - 1;
    let mut at = index;
    loop {
        let (mut left, mut right) = (at >> half, at & mask);
        for round in 0..4u64 {
            let mixed = threefry(seed, epoch, round << 32 | right).0 as u64;
            (left, right) = (right, left ^ (mixed & mask));
        }
        at = left << half | right;
        if at < count {
            return at;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_has_every_window_once() {
        for count in [1, 2, 3, 7, 64, 1000] {
            for epoch in [0, 1] {
                let mut seen: Vec<u64> = (0..count).map(|i| permuted(i, count, 5, epoch)).collect();
                assert!(count < 64 || seen.iter().enumerate().any(|(i, &at)| i as u64 != at));
                seen.sort_unstable();
                assert_eq!(seen, (0..count).collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn batches_go_on_from_a_position_and_know_their_limits() -> Result<()> {
        let device = Device::cpu();
        let tokens = Tokens::new((0..1000).collect());
        let mut batches = Batches::new(tokens.clone(), 3, 16, 9)?;
        let drawn =
            (0..100).map(|_| batches.next(&device)?[0].to_vec::<u32>()).collect::<Result<Vec<_>>>()?;
        let mut again = Batches::new(tokens.clone(), 3, 16, 9)?;
        for at in [0, 57, 99] {
            again.set_position(at * 3);
            assert_eq!(again.next(&device)?[0].to_vec::<u32>()?, drawn[at as usize], "batch {at}");
        }
        let mut other = Batches::new(tokens.clone(), 3, 16, 10)?;
        assert_ne!(other.next(&device)?[0].to_vec::<u32>()?, drawn[0]);

        // The windows of an epoch do not overlap.
        let windows = batches.windows() as usize;
        let mut starts: Vec<u32> = drawn.concat().chunks(16).map(|w| w[0]).take(windows).collect();
        starts.sort_unstable();
        assert!(starts.windows(2).all(|pair| pair[1] - pair[0] == 16), "{starts:?}");

        let mut checked = Batches::new(tokens.clone(), 1, 999, 0)?.checked(999);
        assert!(matches!(checked.next(&device), Err(Error::Index { .. })));
        assert!(matches!(Batches::new(tokens.clone(), 1, 1000, 0), Err(Error::Argument { .. })));
        assert!(matches!(Batches::new(tokens.clone(), 0, 10, 0), Err(Error::Argument { .. })));
        assert!(matches!(tokens.read(990, 11), Err(Error::Index { .. })));
        assert_eq!(tokens.split_at(900).1.read(0, 2)?, [900, 901]);
        Ok(())
    }

    #[test]
    fn a_file_gives_the_same_as_memory() -> Result<()> {
        let path = std::env::temp_dir().join(format!("fornax-tokens-{}.bin", std::process::id()));
        let ids: Vec<u32> = (0..500u32).map(|i| i * 131 % 65536).collect();
        let bytes: Vec<u8> = ids.iter().flat_map(|&id| (id as u16).to_le_bytes()).collect();
        let written = |bytes: &[u8]| {
            std::fs::write(&path, bytes)
                .map_err(|source| Error::Io { path: path.display().to_string(), source })
        };
        written(&bytes)?;
        let (file, memory) = (Tokens::open(&path)?, Tokens::new(ids));
        assert_eq!(file.len(), memory.len());
        let (file, memory) = (file.split_at(100).1, memory.split_at(100).1);
        assert_eq!(file.read(37, 50)?, memory.read(37, 50)?);
        written(&bytes[1..])?;
        assert!(matches!(Tokens::open(&path), Err(Error::Format { .. })));
        // A file that somebody has open is still there on some systems.
        drop(file);
        let _ = std::fs::remove_file(&path);
        assert!(matches!(Tokens::open(&path), Err(Error::Io { .. })));
        Ok(())
    }
}
