//! From logits to the next token: the same filters in the same order as transformers, then one random number.

use fornax::random::threefry;
use fornax::{Error, Result};

/// How the next token is chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampling {
    /// Logits are divided by this; 0 takes the most likely token.
    pub temperature: f64,
    /// Only this many of the most likely tokens; 0 for all.
    pub top_k: usize,
    /// Only the most likely tokens that together have this probability; 1 for all.
    pub top_p: f64,
    /// Only tokens at least this times as likely as the most likely one; 0 for all.
    pub min_p: f64,
    /// Tokens that are there already become less likely by this factor; 1 changes nothing.
    pub repetition_penalty: f64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling { temperature: 1.0, top_k: 0, top_p: 1.0, min_p: 0.0, repetition_penalty: 1.0 }
    }
}

impl Sampling {
    /// Always the most likely token.
    pub fn greedy() -> Sampling {
        Sampling { temperature: 0.0, ..Sampling::default() }
    }

    /// Everything that is wrong with these numbers.
    pub fn problems(&self) -> Vec<String> {
        let mut all = vec![];
        let mut check = |good: bool, text: String| all.extend((!good).then_some(text));
        let Sampling { temperature, top_p, min_p, repetition_penalty, .. } = *self;
        let finite = temperature.is_finite() && temperature >= 0.0;
        check(finite, format!("the temperature is {temperature}; it must be 0 or more"));
        check(top_p > 0.0 && top_p <= 1.0, format!("top-p is {top_p}; it must be above 0, at most 1"));
        check((0.0..=1.0).contains(&min_p), format!("min-p is {min_p}; it must be in 0..=1"));
        let positive = repetition_penalty.is_finite() && repetition_penalty > 0.0;
        check(positive, format!("the repetition penalty is {repetition_penalty}; it must be above 0"));
        all
    }

    /// The tokens that remain, with their probabilities. `history` is what the repetition penalty looks at.
    pub fn candidates(&self, logits: &[f32], history: &[u32]) -> Result<Vec<(u32, f64)>> {
        let mut all: Vec<(u32, f64)> = logits.iter().zip(0..).map(|(&x, id)| (id, x as f64)).collect();
        if self.repetition_penalty != 1.0 {
            let mut seen = history.to_vec();
            seen.sort_unstable();
            seen.dedup();
            for id in seen {
                if let Some((_, x)) = all.get_mut(id as usize) {
                    *x = if *x < 0.0 { *x * self.repetition_penalty } else { *x / self.repetition_penalty };
                }
            }
        }
        let largest = all.iter().map(|(_, x)| *x).fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() || all.iter().any(|(_, x)| x.is_nan()) {
            let detail = "logits are not finite: the model is broken (did its training diverge?)".into();
            return Err(Error::Argument { op: "sample", detail });
        }
        let greedy = self.temperature == 0.0;
        let kept = if greedy { 1 } else { self.top_k };
        if kept > 0 && kept < all.len() {
            all.select_nth_unstable_by(kept - 1, likelier);
            all.truncate(kept);
        }
        for (_, x) in &mut all {
            *x = if greedy { 1.0 } else { ((*x - largest) / self.temperature).exp() };
        }
        normalise(&mut all);
        if self.top_p < 1.0 {
            nucleus(&mut all, self.top_p);
        }
        let most = all.iter().map(|(_, p)| *p).fold(0.0, f64::max);
        all.retain(|(_, p)| *p >= most * self.min_p);
        normalise(&mut all);
        Ok(all)
    }
}

/// The larger first; of equals the lower id.
fn likelier(a: &(u32, f64), b: &(u32, f64)) -> std::cmp::Ordering {
    b.1.total_cmp(&a.1).then(a.0.cmp(&b.0))
}

/// Keeps the most likely tokens that together have probability `p`, without sorting them: what is undecided is halved
/// again and again.
fn nucleus(all: &mut Vec<(u32, f64)>, p: f64) {
    // Tokens before `from` are in and have probability `sum`, those from `to` on are out.
    let (mut from, mut to, mut sum) = (0, all.len(), 0.0);
    while to - from > 1 {
        let middle = from + (to - from) / 2;
        all[from..to].select_nth_unstable_by(middle - from, likelier);
        let half: f64 = all[from..middle].iter().map(|(_, p)| p).sum();
        if sum + half >= p {
            to = middle;
        } else {
            (from, sum) = (middle, sum + half);
        }
    }
    all.truncate(to);
}

fn normalise(all: &mut [(u32, f64)]) {
    let sum: f64 = all.iter().map(|(_, p)| p).sum();
    all.iter_mut().for_each(|(_, p)| *p /= sum);
}

/// Draws tokens. The numbers it uses are a function of the seed, the stream and how many were drawn.
#[derive(Clone, Debug)]
pub struct Sampler {
    sampling: Sampling,
    key: (u32, u32),
    drawn: u64,
}

impl Sampler {
    /// Streams of one seed are independent: each sequence of a batch has its own.
    pub fn new(sampling: Sampling, seed: u64, stream: u32) -> Result<Sampler> {
        if let Some(detail) = sampling.problems().into_iter().next() {
            return Err(Error::Argument { op: "sample", detail });
        }
        Ok(Sampler { sampling, key: ((seed ^ (seed >> 32)) as u32, stream), drawn: 0 })
    }

    /// The next token.
    pub fn next(&mut self, logits: &[f32], history: &[u32]) -> Result<u32> {
        let candidates = self.sampling.candidates(logits, history)?;
        let (high, low) = threefry(self.key.0, self.key.1, self.drawn);
        self.drawn += 1;
        let unit = ((high as u64) << 32 | low as u64) as f64 / 2f64.powi(64);
        let mut sum = 0.0;
        let found = candidates.iter().find(|(_, p)| {
            sum += p;
            unit < sum
        });
        // Rounding may leave the sum a little below 1.
        Ok(found.unwrap_or(&candidates[candidates.len() - 1]).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(sampling: Sampling) -> Vec<u32> {
        let logits = [1.0, 3.0, 2.0, 0.0, 3.0];
        let mut all = sampling.candidates(&logits, &[1]).unwrap();
        all.sort_by(likelier);
        all.into_iter().map(|(id, _)| id).collect()
    }

    #[test]
    fn filters_keep_what_they_say() {
        let all = Sampling::default();
        assert_eq!(kept(all), [1, 4, 2, 0, 3]);
        assert_eq!(kept(Sampling::greedy()), [1]);
        assert_eq!(kept(Sampling { top_k: 3, ..all }), [1, 4, 2]);
        assert_eq!(kept(Sampling { top_k: 99, ..all }), [1, 4, 2, 0, 3]);
        assert_eq!(kept(Sampling { top_p: 0.5, ..all }), [1, 4]);
        assert_eq!(kept(Sampling { top_p: 1e-9, ..all }), [1]);
        assert_eq!(kept(Sampling { min_p: 0.3, ..all }), [1, 4, 2]);
        assert_eq!(kept(Sampling { min_p: 1.0, ..all }), [1, 4]);
        assert_eq!(kept(Sampling { repetition_penalty: 2.0, ..Sampling::greedy() }), [4]);
        let cold = Sampling { temperature: 0.01, ..all }.candidates(&[1.0, 2.0], &[]).unwrap();
        assert!(cold[1].0 == 1 && cold[1].1 > 0.999999);
        // Many tokens that are equally likely.
        let flat = Sampling { top_p: 0.5, ..all }.candidates(&[0.0; 1000], &[]).unwrap();
        assert!(
            (flat.len() as i64 - 500).abs() <= 1 && flat.iter().all(|(id, _)| *id <= 500),
            "{}",
            flat.len()
        );
    }

    #[test]
    fn draws_follow_the_probabilities_and_the_seed() -> Result<()> {
        let logits = [0.0, 1.0, 2.0];
        let mut counts = [0f64; 3];
        let mut sampler = Sampler::new(Sampling::default(), 7, 0)?;
        let first: Vec<u32> = (0..3000).map(|_| sampler.next(&logits, &[])).collect::<Result<_>>()?;
        first.iter().for_each(|&id| counts[id as usize] += 1.0 / 3000.0);
        let sum: f64 = logits.iter().map(|&x| (x as f64).exp()).sum();
        for (count, &x) in counts.iter().zip(&logits) {
            assert!((count - (x as f64).exp() / sum).abs() < 0.03, "{counts:?}");
        }
        let mut again = Sampler::new(Sampling::default(), 7, 0)?;
        let mut other = Sampler::new(Sampling::default(), 7, 1)?;
        let draw = |s: &mut Sampler| (0..3000).map(|_| s.next(&logits, &[])).collect::<Result<Vec<_>>>();
        assert_eq!(draw(&mut again)?, first);
        assert_ne!(draw(&mut other)?, first);
        Ok(())
    }

    #[test]
    fn nonsense_is_an_error() {
        assert!(Sampling::default().candidates(&[1.0, f32::NAN], &[]).is_err());
        assert!(Sampling::default().candidates(&[], &[]).is_err());
        let wrong =
            Sampling { temperature: -1.0, top_k: 0, top_p: 0.0, min_p: 2.0, repetition_penalty: f64::NAN };
        assert_eq!(wrong.problems().len(), 4, "all at once");
        assert!(Sampler::new(wrong, 0, 0).is_err());
    }
}
