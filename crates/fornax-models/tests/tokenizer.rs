//! Tokenizers by themselves; encodings of transformers are in `parity.rs`.

use fornax::Result;
use fornax_models::Tokenizer;

#[test]
fn text_goes_round() -> Result<()> {
    let texts =
        ["", " ", "\n\n  x", "don't stop", "naïve Ünïcödé", "日本語 🦀👩‍👩‍👧", "a\0b\r\n\t", "x<|endoftext|>y"];
    for tokenizer in [Tokenizer::gpt2()?, Tokenizer::bytes()?] {
        for text in texts {
            assert_eq!(tokenizer.decode(&tokenizer.encode(text)?), text, "{}", tokenizer.name());
        }
    }
    assert_eq!(Tokenizer::gpt2()?.special("<|endoftext|>"), Some(50256));
    assert_eq!((Tokenizer::gpt2()?.vocabulary(), Tokenizer::bytes()?.vocabulary()), (50257, 256));
    Ok(())
}

#[test]
fn characters_come_whole() -> Result<()> {
    let tokenizer = Tokenizer::bytes()?;
    let mut decoder = tokenizer.decoder();
    let parts: Vec<String> = "aé🦀".bytes().map(|byte| decoder.push(byte as u32)).collect();
    assert_eq!(parts, ["a", "", "é", "", "", "", "🦀"]);
    // A character that never ends, a byte that cannot be one, and an id that does not exist.
    assert_eq!(decoder.push(0xF0), "");
    assert_eq!(decoder.finish(), "\u{FFFD}");
    assert_eq!(tokenizer.decode(&[0xFF, 0x61, 300]), "\u{FFFD}a\u{FFFD}");
    Ok(())
}

#[test]
fn a_very_long_piece_is_encoded_in_reasonable_time() -> Result<()> {
    let tokenizer = Tokenizer::gpt2()?;
    let text = "abcdefg".repeat(30_000);
    assert_eq!(tokenizer.decode(&tokenizer.encode(&text)?), text);
    Ok(())
}

#[test]
fn a_written_tokenizer_reads_as_the_same() -> Result<()> {
    let path = std::env::temp_dir().join(format!("fornax-tokenizer-{}.json", std::process::id()));
    let text = "It's 2026: naïve 日本語 \n\n tokens<|endoftext|> 🦀";
    for tokenizer in [Tokenizer::gpt2()?, Tokenizer::bytes()?] {
        tokenizer.save(&path)?;
        let again = Tokenizer::from_file(&path)?;
        assert_eq!(again.vocabulary(), tokenizer.vocabulary());
        assert_eq!(again.encode(text)?, tokenizer.encode(text)?, "{}", tokenizer.name());
    }
    std::fs::remove_file(&path).unwrap();
    Ok(())
}

#[test]
fn other_kinds_of_tokenizers_are_errors_that_say_which() {
    let path = std::env::temp_dir().join(format!("fornax-kinds-{}.json", std::process::id()));
    let bpe = |more: &str| {
        format!(
            r#"{{"pre_tokenizer": {{"type": "ByteLevel"}}, "decoder": {{"type": "ByteLevel"}},
                "model": {{"type": "BPE", "vocab": {{"a": 0, "b": 1}}, "merges": []}}{more}}}"#
        )
    };
    let cases = [
        ("[".to_string(), "not JSON"),
        (r#"{"model": {"type": "WordPiece", "vocab": {}}}"#.into(), "WordPiece"),
        (r#"{"model": {"type": "Unigram", "vocab": []}}"#.into(), "Unigram"),
        (bpe(r#", "normalizer": {"type": "NFC"}"#), "NFC"),
        (bpe(r#", "post_processor": {"type": "TemplateProcessing"}"#), "TemplateProcessing"),
        (bpe(r#", "added_tokens": [{"content": "<m>", "id": 2, "lstrip": true}]"#), "lstrip"),
        (bpe(r#", "added_tokens": [{"content": "<m>", "id": 99999999999}]"#), "99999999999"),
        (bpe("").replace("\"merges\": []", "\"merges\": [\"a b\"]"), "ab"),
        (bpe("").replace("\"merges\": []", "\"byte_fallback\": true"), "byte_fallback"),
    ];
    for (text, word) in cases {
        std::fs::write(&path, &text).unwrap();
        let error = Tokenizer::from_file(&path).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(error.contains(word), "{text}: {error:?}");
    }
    std::fs::write(&path, bpe("")).unwrap();
    let tokenizer = Tokenizer::from_file(&path).unwrap();
    assert_eq!(tokenizer.encode("ab").unwrap(), [0, 1]);
    assert!(tokenizer.encode("c").unwrap_err().to_string().contains("0x63"));
    std::fs::remove_file(&path).unwrap();
    assert!(Tokenizer::from_file(&path).is_err());
}
