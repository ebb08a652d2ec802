//! Byte-level byte-pair encoding: text is cut into pieces by a pattern, a piece becomes its bytes, and neighbours are
//! merged, the earliest learned pair first. No file formats here.

use fancy_regex::Regex;
use fornax::{Error, Result};
use rustc_hash::FxHashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// GPT-2's pieces: contractions, words, numbers and signs with the space before them, and the white space that is left.
pub(crate) const GPT2_PATTERN: &str =
    r"'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+";

const OP: &str = "tokenizer";

fn invalid(error: fancy_regex::Error) -> Error {
    Error::Argument { op: OP, detail: format!("a pattern that cannot be used: {error}") }
}

/// The tables of a tokenizer.
pub(crate) struct Bpe {
    /// The bytes of every id.
    pub tokens: Vec<Vec<u8>>,
    /// The id of every byte.
    bytes: [Option<u32>; 256],
    /// Which two neighbours become what; learned earlier comes first.
    merges: FxHashMap<(u32, u32), Merge>,
    /// One after the other, each cuts what the one before left.
    pub patterns: Vec<Regex>,
    /// Texts that are one token wherever they stand.
    pub special: Vec<(String, u32)>,
    any_special: Option<Regex>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Merge {
    rank: u32,
    id: u32,
}

impl Bpe {
    /// `merges` are pairs of ids with the id that they become, in the order in which they were learned.
    pub fn new(
        tokens: Vec<Vec<u8>>,
        merges: &[(u32, u32, u32)],
        patterns: &[&str],
        special: Vec<(String, u32)>,
    ) -> Result<Bpe> {
        let mut bytes = [None; 256];
        for (id, token) in tokens.iter().enumerate() {
            if let &[byte] = &token[..] {
                bytes[byte as usize].get_or_insert(id as u32);
            }
        }
        let mut table = FxHashMap::default();
        for (rank, &(left, right, id)) in merges.iter().enumerate() {
            table.entry((left, right)).or_insert(Merge { rank: rank as u32, id });
        }
        let patterns = patterns.iter().map(|p| Regex::new(p).map_err(invalid)).collect::<Result<Vec<_>>>()?;
        let mut longest_first: Vec<&str> = special.iter().map(|(text, _)| text.as_str()).collect();
        longest_first.sort_by_key(|text| Reverse(text.len()));
        let any: Vec<_> = longest_first.into_iter().map(fancy_regex::escape).collect();
        let any_special =
            if any.is_empty() { None } else { Some(Regex::new(&any.join("|")).map_err(invalid)?) };
        Ok(Bpe { tokens, bytes, merges: table, patterns, special, any_special })
    }

    /// The tables of a vocabulary in the order in which it was learned, single bytes first. The merge that made a
    /// token is the pair that the merges before it leave of its bytes.
    pub fn learned(tokens: Vec<Vec<u8>>, patterns: &[&str]) -> Result<Bpe> {
        let mut bpe = Bpe::new(tokens, &[], patterns, vec![])?;
        for id in 0..bpe.tokens.len() as u32 {
            if bpe.tokens[id as usize].len() < 2 {
                continue;
            }
            let mut parts = vec![];
            bpe.merge(&bpe.tokens[id as usize], &mut parts)?;
            if let &[left, right] = &parts[..] {
                bpe.merges.insert((left, right), Merge { rank: id, id });
            }
        }
        Ok(bpe)
    }

    /// The same with texts that are one token; their ids follow the others.
    pub fn with_special(mut self, texts: &[&str]) -> Result<Bpe> {
        for text in texts {
            self.special.push((text.to_string(), self.tokens.len() as u32));
            self.tokens.push(text.as_bytes().to_vec());
        }
        let any: Vec<_> = texts.iter().map(|text| fancy_regex::escape(text)).collect();
        self.any_special = Some(Regex::new(&any.join("|")).map_err(invalid)?);
        Ok(self)
    }

    pub fn encode(&self, text: &str) -> Result<Vec<u32>> {
        let mut ids = vec![];
        let mut plain = 0;
        if let Some(any) = &self.any_special {
            for found in any.find_iter(text) {
                let found = found.map_err(invalid)?;
                self.encode_plain(&text[plain..found.start()], &self.patterns, &mut ids)?;
                ids.extend(self.special.iter().find(|(known, _)| known == found.as_str()).map(|(_, id)| *id));
                plain = found.end();
            }
        }
        self.encode_plain(&text[plain..], &self.patterns, &mut ids)?;
        Ok(ids)
    }

    /// Text without special tokens.
    fn encode_plain(&self, text: &str, patterns: &[Regex], ids: &mut Vec<u32>) -> Result<()> {
        let Some((first, rest)) = patterns.split_first() else { return self.merge(text.as_bytes(), ids) };
        // What a pattern does not match is a piece too.
        let mut done = 0;
        for found in first.find_iter(text) {
            let found = found.map_err(invalid)?;
            if found.start() > done {
                self.encode_plain(&text[done..found.start()], rest, ids)?;
            }
            self.encode_plain(found.as_str(), rest, ids)?;
            done = found.end();
        }
        if done < text.len() { self.encode_plain(&text[done..], rest, ids) } else { Ok(()) }
    }

    /// The tokens of one piece, appended to `ids`.
    fn merge(&self, piece: &[u8], ids: &mut Vec<u32>) -> Result<()> {
        let first = ids.len();
        for &byte in piece {
            ids.push(self.bytes[byte as usize].ok_or_else(|| Error::Argument {
                op: OP,
                detail: format!("it has no token for the byte {byte:#04x}"),
            })?);
        }
        let parts = &mut ids[first..];
        if self.merges.is_empty() || parts.len() < 2 {
            return Ok(());
        }
        // A list of parts by position: a merge keeps the left one, and the right one becomes GONE.
        const GONE: u32 = u32::MAX;
        let end = parts.len();
        let mut next: Vec<usize> = (1..=end).collect();
        let mut before: Vec<usize> = (0..end).map(|i| i.wrapping_sub(1)).collect();
        let mut waiting = BinaryHeap::new();
        let offer = |waiting: &mut BinaryHeap<_>, parts: &[u32], at: usize, right: usize| {
            if let Some(&merge) = self.merges.get(&(parts[at], parts[right])) {
                waiting.push(Reverse((merge, at, (parts[at], parts[right]))));
            }
        };
        for at in 0..end - 1 {
            offer(&mut waiting, parts, at, at + 1);
        }
        while let Some(Reverse((merge, at, pair))) = waiting.pop() {
            let right = next[at];
            // Offers are not taken back when one of their parts is merged with another: those are skipped here.
            if right == end || (parts[at], parts[right]) != pair {
                continue;
            }
            parts[at] = merge.id;
            parts[right] = GONE;
            next[at] = next[right];
            if next[at] < end {
                before[next[at]] = at;
                offer(&mut waiting, parts, at, next[at]);
            }
            if before[at] < end {
                offer(&mut waiting, parts, before[at], at);
            }
        }
        let mut kept = first;
        for at in first..ids.len() {
            if ids[at] != GONE {
                ids[kept] = ids[at];
                kept += 1;
            }
        }
        ids.truncate(kept);
        Ok(())
    }

    /// The merges in the order in which they were learned.
    pub fn merges(&self) -> Vec<(u32, u32)> {
        let mut all: Vec<_> = self.merges.iter().map(|(pair, merge)| (merge.rank, *pair)).collect();
        all.sort_unstable();
        all.into_iter().map(|(_, pair)| pair).collect()
    }
}
