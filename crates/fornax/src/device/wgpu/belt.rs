//! Belts: pieces of mapped memory that carry bytes of the host's to a GPU, and come back for others when they have arrived.

use super::{checked, lock};
use std::sync::{Arc, Mutex};

/// Mapped memory in pieces of one size, so that few of them serve for ever.
pub(super) struct Belt {
    device: wgpu::Device,
    /// Bytes of a piece.
    piece: usize,
    /// Mapped pieces that carry nothing.
    free: Arc<Mutex<Vec<wgpu::Buffer>>>,
    /// Those that carry something and are not submitted, and the bytes that are taken of the last.
    loaded: Vec<wgpu::Buffer>,
    taken: usize,
    /// How many more pieces a test wants refused, and how many were made.
    #[cfg(test)]
    pub refused: usize,
    #[cfg(test)]
    pub made: usize,
}

/// Why bytes cannot be carried.
#[derive(Debug)]
pub(super) enum Refused {
    /// There is no memory for a piece.
    NoMemory,
    /// What the device says; it may be lost.
    Device(String),
}

/// Bytes of the whole words that hold so many.
fn words(bytes: usize) -> usize {
    bytes.next_multiple_of(4)
}

impl Belt {
    pub fn new(device: &wgpu::Device, piece: usize) -> Belt {
        Belt {
            device: device.clone(),
            piece,
            free: Arc::default(),
            loaded: vec![],
            taken: 0,
            #[cfg(test)]
            refused: 0,
            #[cfg(test)]
            made: 0,
        }
    }

    /// Loads bytes, not more than a piece has, and records their copy into a buffer, as whole words; or nothing, if it fails.
    pub fn load(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        buffer: &wgpu::Buffer,
        offset: usize,
        bytes: &[u8],
    ) -> Result<(), Refused> {
        let size = words(bytes.len());
        if self.loaded.is_empty() || self.taken + size > self.piece {
            #[cfg(test)]
            if self.refused > 0 {
                self.refused -= 1;
                return Err(Refused::NoMemory);
            }
            let free = lock(&self.free).pop();
            let piece = match free {
                Some(piece) => piece,
                None => self.new_piece()?,
            };
            self.loaded.push(piece);
            self.taken = 0;
        }
        let lost = || Refused::Device("the memory for bytes on their way to it is gone".into());
        let piece = self.loaded.last().ok_or_else(lost)?;
        let (begin, end) = (self.taken as u64, (self.taken + size) as u64);
        put(piece.get_mapped_range_mut(begin..end).map_err(|_| lost())?.slice(..), bytes);
        encoder.copy_buffer_to_buffer(piece, begin, buffer, offset as u64, size as u64);
        self.taken = (self.taken + size).next_multiple_of(wgpu::MAP_ALIGNMENT as usize);
        Ok(())
    }

    fn new_piece(&mut self) -> Result<wgpu::Buffer, Refused> {
        #[cfg(test)]
        {
            self.made += 1;
        }
        let make = || {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("belt"),
                size: self.piece as u64,
                usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        };
        checked(&self.device, make).map_err(|e| match e {
            wgpu::Error::OutOfMemory { .. } => Refused::NoMemory,
            e => Refused::Device(format!("memory for bytes on their way to it: {e}")),
        })
    }

    /// Bytes of the pieces that are loaded.
    pub fn loaded(&self) -> usize {
        self.loaded.len() * self.piece
    }

    /// Sends what is loaded with these commands, which must be submitted next.
    pub fn send(&mut self, commands: &wgpu::CommandEncoder) {
        for piece in self.loaded.drain(..) {
            piece.unmap();
            let (free, arrived) = (self.free.clone(), piece.clone());
            commands.map_buffer_on_submit(&piece, wgpu::MapMode::Write, .., move |mapped| {
                if mapped.is_ok() {
                    lock(&free).push(arrived);
                }
            });
        }
    }
}

/// Puts bytes where there is room for whole words of them.
fn put(mut room: wgpu::WriteOnly<'_, [u8]>, bytes: &[u8]) {
    let whole = bytes.len() / 4 * 4;
    room.slice(..whole).copy_from_slice(&bytes[..whole]);
    if whole < bytes.len() {
        let mut last = [0u8; 4];
        last[..bytes.len() - whole].copy_from_slice(&bytes[whole..]);
        room.slice(whole..).copy_from_slice(&last);
    }
}
