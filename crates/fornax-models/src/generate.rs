//! Text from a model: prompts go through it once, whole, then a token for each of them at a time against the cache.

use crate::cache::{CacheSize, KvCache};
use crate::gpt2::Gpt2;
use crate::sample::{Sampler, Sampling};
use crate::tokenizer::{Decoder, Tokenizer};
use fornax::{Error, Result, Tensor, no_grad};
use std::time::{Duration, Instant};

/// A batch of sequences that a model continues. Tokens in, logits out; who chooses among them is another's matter.
pub struct Session<'a> {
    model: &'a Gpt2,
    cache: KvCache,
    rows: usize,
    logits: Vec<f32>,
}

impl<'a> Session<'a> {
    /// Reads the prompts, all at once. There is room for `more` tokens after the longest of them.
    pub fn new(model: &'a Gpt2, prompts: &[Vec<u32>], more: usize) -> Result<Session<'a>> {
        let wrong = |detail: String| Err(Error::Argument { op: "generate", detail });
        let longest = prompts.iter().map(Vec::len).max().unwrap_or(0);
        if prompts.iter().any(Vec::is_empty) || longest == 0 {
            return wrong("a prompt of no tokens; give at least one".into());
        }
        let config = &model.config;
        if longest > config.context {
            return wrong(format!(
                "a prompt of {longest} tokens; the model reads {} at most",
                config.context
            ));
        }
        let unknown = prompts.iter().flatten().find(|&&id| id as usize >= config.vocabulary);
        if let Some(id) = unknown {
            return wrong(format!(
                "token {id}; the model knows {} (the wrong tokenizer?)",
                config.vocabulary
            ));
        }
        let padding: Vec<usize> = prompts.iter().map(|prompt| longest - prompt.len()).collect();
        let size = CacheSize {
            layers: config.layers,
            heads: config.heads,
            width: config.width / config.heads,
            capacity: longest + more,
        };
        let device = model.wte.weight.device();
        let cache = KvCache::new(size, &padding, &device)?;
        let mut session = Session { model, cache, rows: prompts.len(), logits: vec![] };
        let padded = prompts.iter().zip(&padding).flat_map(|(prompt, &free)| {
            std::iter::repeat_n(0, free).chain(prompt.iter().map(|&id| id as i64))
        });
        session.step(&padded.collect::<Vec<i64>>(), longest)?;
        Ok(session)
    }

    /// Reads one more token of every sequence.
    pub fn push(&mut self, tokens: &[u32]) -> Result<()> {
        if tokens.len() != self.rows {
            let detail = format!("{} tokens for {} sequences", tokens.len(), self.rows);
            return Err(Error::Argument { op: "generate", detail });
        }
        self.step(&tokens.iter().map(|&id| id as i64).collect::<Vec<_>>(), 1)
    }

    fn step(&mut self, ids: &[i64], time: usize) -> Result<()> {
        let model = self.model;
        let ids = Tensor::from_slice(ids, &[self.rows, time], &model.wte.weight.device())?;
        let logits = no_grad(|| {
            self.cache.step(time, |positions, attend| {
                // A sequence that has ended still gets its columns; what they hold is not used.
                let positions = positions.minimum(model.config.context - 1)?;
                let positions = model.wpe.forward(&positions)?; // (B, T, C)
                let x = model.blocks(&ids, &positions, attend)?;
                model.head(&x.narrow(1, time - 1, 1)?) // only the last says what follows
            })
        })?;
        self.logits = logits.to_vec::<f32>()?;
        Ok(())
    }

    /// The logits of what follows sequence `row`.
    pub fn logits(&self, row: usize) -> &[f32] {
        let vocabulary = self.model.config.vocabulary;
        &self.logits[row * vocabulary..][..vocabulary]
    }
}

/// What to generate.
#[derive(Clone, Debug)]
pub struct Request {
    /// The most tokens for each prompt.
    pub tokens: usize,
    /// How they are chosen.
    pub sampling: Sampling,
    /// The same seed gives the same text.
    pub seed: u64,
    /// A text ends before the first of these.
    pub stop: Vec<String>,
}

/// Why a text ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The model's token for the end came.
    End,
    /// A stop string came.
    Stop,
    /// As many tokens as asked for.
    Tokens,
    /// The model reads no longer sequences.
    Context,
}

impl Reason {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Reason::End => "end",
            Reason::Stop => "stop",
            Reason::Tokens => "tokens",
            Reason::Context => "context",
        }
    }
}

/// The continuation of one prompt.
#[derive(Clone, Debug)]
pub struct Completion {
    /// The text, without the prompt.
    pub text: String,
    /// All tokens that were drawn, also those of a stop string.
    pub tokens: Vec<u32>,
    /// How many tokens the prompt had.
    pub prompt_tokens: usize,
    /// Why it ended.
    pub reason: Reason,
}

/// How long it took: tokens and time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Speed {
    /// Tokens of the prompts, and the time until the first token could be chosen.
    pub prefill: (usize, Duration),
    /// Tokens after the second of each prompt, and their time. The second is left out: it makes the plan that the others
    /// replay.
    pub decode: (usize, Duration),
}

/// Continues every prompt. `show` gets each one's number and its text as it becomes certain.
pub fn generate(
    model: &Gpt2,
    tokenizer: &Tokenizer,
    prompts: &[&str],
    request: &Request,
    mut show: impl FnMut(usize, &str) -> Result<()>,
) -> Result<(Vec<Completion>, Speed)> {
    let start = Instant::now();
    let mut generation = Generation::new(model, tokenizer, prompts, request)?;
    let read = generation.rows.iter().map(|row| row.prompt_tokens).sum();
    let mut speed = Speed { prefill: (read, start.elapsed()), ..Speed::default() };
    let mut start = None;
    while generation.step(&mut show)? {
        match start {
            None => start = Some(Instant::now()),
            Some(_) => speed.decode.0 += generation.rows.iter().filter(|row| row.reason.is_none()).count(),
        }
    }
    speed.decode.1 = start.map_or(Duration::ZERO, |start| start.elapsed());
    let done = generation.rows.into_iter().map(|row| Completion {
        text: row.output.text,
        tokens: row.tokens,
        prompt_tokens: row.prompt_tokens,
        reason: row.reason.unwrap_or(Reason::Tokens),
    });
    Ok((done.collect(), speed))
}

/// Texts on their way: prompts that were read, and the tokens drawn after them.
pub struct Generation<'a> {
    model: &'a Gpt2,
    request: &'a Request,
    rows: Vec<Row<'a>>,
    session: Session<'a>,
}

impl<'a> Generation<'a> {
    /// Reads the prompts.
    pub fn new(
        model: &'a Gpt2,
        tokenizer: &'a Tokenizer,
        prompts: &[&str],
        request: &'a Request,
    ) -> Result<Generation<'a>> {
        let prompts =
            prompts.iter().map(|text| prompt(model, tokenizer, text)).collect::<Result<Vec<_>>>()?;
        let mut rows = vec![];
        for (row, prompt) in prompts.iter().enumerate() {
            rows.push(Row {
                sampler: Sampler::new(request.sampling, request.seed, row as u32)?,
                prompt_tokens: prompt.len(),
                history: prompt.clone(),
                room: model.config.context.saturating_sub(prompt.len()),
                tokens: vec![],
                output: Output { decoder: Some(tokenizer.decoder()), text: String::new(), shown: 0 },
                reason: (request.tokens == 0).then_some(Reason::Tokens),
            });
        }
        // The last token is drawn but never read.
        let more = rows.iter().map(|row| row.room.min(request.tokens.saturating_sub(1))).max().unwrap_or(0);
        let session = Session::new(model, &prompts, more)?;
        Ok(Generation { model, request, rows, session })
    }

    /// Draws a token for every text that has not ended, and reads them; false when all have ended.
    pub fn step(&mut self, show: &mut dyn FnMut(usize, &str) -> Result<()>) -> Result<bool> {
        let Generation { model, request, rows, session } = self;
        for (at, row) in rows.iter_mut().enumerate().filter(|(_, row)| row.reason.is_none()) {
            row.draw(session.logits(at), model.config.end, request)?;
            let text = row.output.certain(&request.stop, row.reason);
            if !text.is_empty() {
                show(at, text)?;
            }
        }
        if rows.iter().all(|row| row.reason.is_some()) {
            return Ok(false);
        }
        // Those that have ended read something too, so that the plan stays the same.
        let next: Vec<u32> = rows.iter().map(|row| row.history.last().copied().unwrap_or(0)).collect();
        session.push(&next)?;
        Ok(true)
    }
}

/// The tokens of a prompt. An empty one starts as texts of the training data did: after the end of another.
fn prompt(model: &Gpt2, tokenizer: &Tokenizer, text: &str) -> Result<Vec<u32>> {
    let mut ids = tokenizer.encode(text)?;
    if ids.is_empty() {
        ids.extend(model.config.end);
    }
    Ok(ids)
}

/// A sequence on its way.
struct Row<'a> {
    sampler: Sampler,
    prompt_tokens: usize,
    /// Prompt and drawn tokens.
    history: Vec<u32>,
    /// Tokens after the prompt that the model can read.
    room: usize,
    tokens: Vec<u32>,
    output: Output<'a>,
    reason: Option<Reason>,
}

impl Row<'_> {
    fn draw(&mut self, logits: &[f32], end: Option<u32>, request: &Request) -> Result<()> {
        let token = self.sampler.next(logits, &self.history)?;
        self.history.push(token);
        self.tokens.push(token);
        if Some(token) == end {
            self.reason = Some(Reason::End);
            return Ok(());
        }
        let stopped = self.output.push(token, &request.stop);
        if stopped {
            self.reason = Some(Reason::Stop);
        } else if self.tokens.len() >= request.tokens {
            self.reason = Some(Reason::Tokens);
        } else if self.tokens.len() > self.room {
            self.reason = Some(Reason::Context);
        }
        Ok(())
    }
}

/// Text that grows, of which a part has been shown.
struct Output<'a> {
    decoder: Option<Decoder<'a>>,
    text: String,
    shown: usize,
}

impl Output<'_> {
    /// Adds a token. At a stop string the text ends, and this gives true.
    fn push(&mut self, token: u32, stop: &[String]) -> bool {
        let Some(decoder) = &mut self.decoder else { return false };
        self.text.push_str(&decoder.push(token));
        // Nothing that was shown can belong to one.
        let found =
            stop.iter().filter(|s| !s.is_empty()).filter_map(|s| self.text[self.shown..].find(s.as_str()));
        match found.min() {
            Some(at) => {
                self.text.truncate(self.shown + at);
                self.decoder = None;
                true
            }
            None => false,
        }
    }

    /// What can be shown now and was not yet: all but what may become a stop string.
    fn certain(&mut self, stop: &[String], reason: Option<Reason>) -> &str {
        if reason.is_some()
            && let Some(decoder) = self.decoder.take()
        {
            self.text.push_str(&decoder.finish());
        }
        let from = self.shown;
        self.shown = match reason {
            Some(_) => self.text.len(),
            None => {
                let rest = &self.text[from..];
                let may_begin = |at: &usize| {
                    stop.iter().any(|s| s.len() > rest.len() - at && s.starts_with(&rest[*at..]))
                };
                let held = rest.char_indices().map(|(at, _)| at).find(may_begin);
                from + held.unwrap_or(rest.len())
            }
        };
        &self.text[from..self.shown]
    }
}
