//! Generation as such: the steady state, batches, and where a text ends. The tokens are compared with those of
//! transformers in `parity.rs`.

#[path = "../../fornax/tests/on/mod.rs"]
mod on;

use fornax::{Device, Result};
use fornax_models::{Completion, Gpt2, Gpt2Config, Reason, Request, Sampling, Session, Tokenizer, generate};

fn model(device: &Device) -> Result<Gpt2> {
    fornax::manual_seed(5);
    let model = Gpt2::new(Gpt2Config::new(256, 40, 2, 32, 4), device)?;
    // Initial weights hardly tell tokens apart; larger ones make the next token depend on all before.
    for parameter in fornax::nn::Module::parameters(&model) {
        let larger = parameter.tensor().mul(8.0)?.detach();
        larger.eval()?;
        parameter.set(&larger)?;
    }
    Ok(model)
}

fn greedy(tokens: usize) -> Request {
    Request { tokens, sampling: Sampling::greedy(), seed: 0, stop: vec![] }
}

/// The completions, and everything shown of the first.
fn run(model: &Gpt2, prompts: &[&str], request: &Request) -> Result<(Vec<Completion>, Vec<String>)> {
    let mut shown = vec![];
    let done = generate(model, &Tokenizer::bytes()?, prompts, request, |row, text| {
        shown.extend((row == 0).then(|| text.to_string()));
        Ok(())
    })?;
    Ok((done.0, shown))
}

#[test]
fn from_the_third_token_on_one_plan_is_replayed() -> Result<()> {
    let device = on::fresh();
    let model = model(&device)?;
    let mut session = Session::new(&model, &[vec![1, 2, 3], vec![4]], 20)?;
    for token in 0..20 {
        device.reset_stats();
        session.push(&[token, token + 1])?;
        let stats = device.stats();
        if token >= 2 {
            assert_eq!(stats.plans_built, 0, "token {token}");
            assert_eq!(stats.plans_reused, 1, "token {token}");
            assert_eq!(stats.kernels_compiled, 0, "token {token}");
            assert_eq!(stats.pool.fresh, 0, "token {token}: {stats:?}");
            assert!(stats.launches <= 5 + 2 * 9, "{} launches", stats.launches);
        }
    }
    assert!(session.push(&[0, 0]).is_err(), "the cache is full");
    assert!(session.push(&[0]).is_err(), "a token for each sequence");
    Ok(())
}

/// The cache is the same memory from the first token to the last; only the new rows are written.
#[test]
fn the_cache_is_written_in_place() -> Result<()> {
    let device = on::fresh();
    let model = model(&device)?;
    let mut session = Session::new(&model, &[vec![1, 2, 3]], 4000)?;
    session.push(&[4])?;
    session.push(&[5])?;
    device.reset_stats();
    let live = device.stats().pool.live_bytes;
    session.push(&[6])?;
    let pool = device.stats().pool;
    let (cache, taken) = (2 * 2 * 4003 * 32 * 4, pool.peak_bytes - live);
    assert!(taken < cache / 8, "a token takes {taken} bytes beside the cache of {cache}");
    assert_eq!(pool.live_bytes, live);
    Ok(())
}

#[test]
fn a_step_against_the_cache_gives_what_the_whole_sequence_gives() -> Result<()> {
    let device = on::device();
    let model = model(&device)?;
    let ids: Vec<u32> = vec![7, 77, 177, 9, 200, 31];
    let mut session = Session::new(&model, &[ids[..2].to_vec()], 4)?;
    for at in 2..=ids.len() {
        let whole: Vec<i64> = ids[..at].iter().map(|&id| id as i64).collect();
        let logits = model.forward(&fornax::Tensor::from_slice(&whole, &[1, at], &device)?)?;
        let want = logits.select(1, -1)?.to_vec::<f32>()?;
        for (a, b) in session.logits(0).iter().zip(&want) {
            assert!((a - b).abs() < 1e-4 * (1.0 + b.abs()), "{at}: {a}, not {b}");
        }
        if at < ids.len() {
            session.push(&[ids[at]])?;
        }
    }
    Ok(())
}

#[test]
fn a_batch_gives_what_each_prompt_gives_alone() -> Result<()> {
    let model = model(&on::device())?;
    // The second reaches the end of the model's context before the others have their tokens.
    let prompts = ["a", "a prompt of twenty-four", "other"];
    let request = greedy(30);
    let (together, _) = run(&model, &prompts, &request)?;
    for (prompt, batched) in prompts.iter().zip(&together) {
        let (alone, _) = run(&model, &[prompt], &request)?;
        assert_eq!(alone[0].tokens, batched.tokens, "{prompt}");
        assert_eq!(alone[0].reason, batched.reason);
    }
    assert_eq!(together.iter().map(|c| c.tokens.len()).collect::<Vec<_>>(), [30, 18, 30]);
    assert_eq!(together[1].reason, Reason::Context);
    Ok(())
}

#[test]
fn texts_end_where_they_should() -> Result<()> {
    let model = model(&on::device())?;
    let (all, shown) = run(&model, &["start"], &greedy(25))?;
    assert_eq!((all[0].tokens.len(), all[0].reason, all[0].prompt_tokens), (25, Reason::Tokens, 5));
    assert_eq!(shown.concat(), all[0].text);
    // A stop string of several tokens: none of it is shown, not even for a moment.
    let text: Vec<char> = all[0].text.chars().collect();
    let stop: String = text[6..9].iter().collect();
    let cut = all[0].text.find(&stop).unwrap();
    let (stopped, shown) = run(&model, &["start"], &Request { stop: vec![stop], ..greedy(25) })?;
    assert_eq!(stopped[0].reason, Reason::Stop);
    assert_eq!(stopped[0].text, all[0].text[..cut]);
    assert_eq!(shown.concat(), stopped[0].text);
    // One that never comes holds nothing back in the end.
    let (other, shown) = run(&model, &["start"], &Request { stop: vec!["never".into()], ..greedy(25) })?;
    assert_eq!((&other[0].text, shown.concat()), (&all[0].text, all[0].text.clone()));
    // The token that ends texts.
    let mut ending = self::model(&on::device())?;
    ending.config.end = Some(all[0].tokens[4]);
    let first = all[0].tokens.iter().position(|token| Some(*token) == ending.config.end).unwrap();
    let (ended, _) = run(&ending, &["start"], &greedy(25))?;
    assert_eq!((ended[0].tokens.len(), ended[0].reason), (first + 1, Reason::End));
    Ok(())
}

#[test]
fn a_seed_gives_a_text() -> Result<()> {
    let model = model(&on::device())?;
    let sampling = Sampling { temperature: 1.0, top_p: 0.95, ..Sampling::default() };
    let text = |seed| -> Result<Vec<u32>> {
        Ok(run(&model, &["x"], &Request { sampling, seed, ..greedy(20) })?.0[0].tokens.clone())
    };
    assert_eq!(text(1)?, text(1)?);
    assert_ne!(text(1)?, text(2)?);
    Ok(())
}

#[test]
fn wrong_requests_are_errors() -> Result<()> {
    let model = model(&on::device())?;
    let long = "x".repeat(41);
    for prompt in ["", long.as_str()] {
        assert!(run(&model, &[prompt], &greedy(3)).is_err(), "{prompt:?}");
    }
    assert!(Session::new(&model, &[vec![256]], 3).is_err(), "a token that the model does not know");
    assert!(run(&model, &[], &greedy(3)).is_err(), "no prompts");
    Ok(())
}
