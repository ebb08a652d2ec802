//! Hugging Face's `tokenizer.json`, as far as it says byte-level byte-pair encoding. Anything in it that would change
//! ids and is not understood is an error, never ignored.

use crate::bpe::{Bpe, GPT2_PATTERN};
use crate::folder::{format_error, read_json, write_json};
use fornax::Result;
use rustc_hash::FxHashMap;
use serde_json::{Map, Value, json};
use std::path::Path;

/// Reads the tables of a file.
pub(crate) fn read(path: &Path) -> Result<Bpe> {
    let file = read_json(path)?;
    parse(&file).map_err(|detail| format_error(path, detail))
}

type Parsed<T> = std::result::Result<T, String>;

fn parse(file: &Value) -> Parsed<Bpe> {
    let model = &file["model"];
    let kind = model["type"].as_str().unwrap_or("BPE");
    if kind != "BPE" || !model["vocab"].is_object() {
        return Err(format!("a tokenizer of kind {kind}; Fornax reads byte-level BPE only"));
    }
    only(&file["normalizer"], "normalizer", &[])?;
    only(&file["post_processor"], "post_processor", &["ByteLevel"])?;
    if file["decoder"]["type"] != "ByteLevel" {
        return Err("a BPE that is not byte-level; Fornax reads byte-level BPE only".into());
    }
    for name in
        ["dropout", "continuing_subword_prefix", "end_of_word_suffix", "byte_fallback", "ignore_merges"]
    {
        if !matches!(&model[name], Value::Null | Value::Bool(false)) && model[name] != "" {
            return Err(format!("{name} is {}, which Fornax does not have", model[name]));
        }
    }
    let patterns = patterns(&file["pre_tokenizer"])?;

    let bytes = byte_of_letter();
    let mut tokens: Vec<Vec<u8>> = vec![];
    let mut ids: FxHashMap<&str, u32> = FxHashMap::default();
    for (text, id) in model["vocab"].as_object().into_iter().flatten() {
        let id = place(&mut tokens, id)?;
        // What is not written in the alphabet of bytes is an added token; those are filled in below.
        tokens[id as usize] =
            text.chars().map(|c| bytes.get(&c).copied()).collect::<Option<_>>().unwrap_or_default();
        ids.insert(text, id);
    }
    let mut merges = vec![];
    for merge in list(&model["merges"]) {
        // Written as "a b" or as ["a", "b"].
        let pair = match merge {
            Value::String(text) => text.split_once(' '),
            other => other[0].as_str().zip(other[1].as_str()),
        };
        let (left, right) = pair.ok_or_else(|| format!("a merge that is no pair: {merge}"))?;
        let id = |text: &str| {
            ids.get(text).copied().ok_or_else(|| format!("the merge {merge}: no token {text:?}"))
        };
        merges.push((id(left)?, id(right)?, id(&format!("{left}{right}"))?));
    }
    let mut special = vec![];
    for added in list(&file["added_tokens"]) {
        let text = added["content"].as_str().ok_or("an added token without content")?;
        for flag in ["lstrip", "rstrip", "single_word"] {
            if added[flag] == true {
                return Err(format!("the added token {text:?} has {flag}, which Fornax does not have"));
            }
        }
        let id = place(&mut tokens, &added["id"])?;
        tokens[id as usize] = text.as_bytes().to_vec();
        special.push((text.to_string(), id));
    }
    let patterns: Vec<&str> = patterns.iter().map(String::as_str).collect();
    Bpe::new(tokens, &merges, &patterns, special).map_err(|error| error.to_string())
}

/// An error if a part of the pipeline is of another kind than these.
fn only(part: &Value, name: &str, kinds: &[&str]) -> Parsed<()> {
    match part["type"].as_str() {
        None if part.is_null() => Ok(()),
        Some(kind) if kinds.contains(&kind) => Ok(()),
        kind => Err(format!("a {name} of kind {}, which Fornax does not have", kind.unwrap_or("unknown"))),
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], |list| list)
}

/// The id, with room for it among the tokens.
fn place(tokens: &mut Vec<Vec<u8>>, id: &Value) -> Parsed<u32> {
    // No vocabulary comes near this; a larger number is a broken file that would take all memory.
    let id =
        id.as_u64().filter(|&id| id < 1 << 24).ok_or_else(|| format!("an id that cannot be: {id}"))? as usize;
    if tokens.len() <= id {
        tokens.resize(id + 1, vec![]);
    }
    Ok(id as u32)
}

/// The patterns that cut text into pieces.
fn patterns(part: &Value) -> Parsed<Vec<String>> {
    match part["type"].as_str() {
        Some("Sequence") => {
            let parts = list(&part["pretokenizers"]).iter().map(patterns).collect::<Parsed<Vec<_>>>()?;
            Ok(parts.concat())
        }
        Some("Split") if part["behavior"] == "Isolated" && part["invert"] != true => {
            let pattern = part["pattern"]["Regex"].as_str().ok_or("a Split without a Regex")?;
            Ok(vec![pattern.to_string()])
        }
        Some("ByteLevel") if part["add_prefix_space"] == true => {
            Err("add_prefix_space is true, which Fornax does not have".into())
        }
        Some("ByteLevel") if part["use_regex"] == false => Ok(vec![]),
        Some("ByteLevel") => Ok(vec![GPT2_PATTERN.to_string()]),
        kind => {
            Err(format!("a pre_tokenizer of kind {}, which Fornax does not have", kind.unwrap_or("none")))
        }
    }
}

/// GPT-2's alphabet: printable bytes stand for themselves, the others follow from U+0100 on.
fn letter_of_byte() -> [char; 256] {
    let printable = |byte: u32| matches!(byte, 0x21..=0x7E | 0xA1..=0xAC | 0xAE..=0xFF);
    let mut next = 0x100;
    std::array::from_fn(|byte| {
        let byte = byte as u32;
        let code = if printable(byte) {
            byte
        } else {
            next += 1;
            next - 1
        };
        char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
    })
}

fn byte_of_letter() -> FxHashMap<char, u8> {
    letter_of_byte().into_iter().zip(0..=255).collect()
}

/// Writes the tables in a form that [`read`] and Hugging Face's libraries understand.
pub(crate) fn write(path: &Path, bpe: &Bpe) -> Result<()> {
    let letters = letter_of_byte();
    let written =
        |id: u32| -> String { bpe.tokens[id as usize].iter().map(|&b| letters[b as usize]).collect() };
    let is_special = |id: u32| bpe.special.iter().any(|(_, special)| *special == id);
    let mut vocabulary = Map::new();
    for id in (0..bpe.tokens.len() as u32).filter(|&id| !is_special(id)) {
        vocabulary.insert(written(id), id.into());
    }
    let mut added = vec![];
    for (text, id) in &bpe.special {
        vocabulary.insert(text.clone(), (*id).into());
        added.push(json!({
            "id": id, "content": text, "special": true,
            "single_word": false, "lstrip": false, "rstrip": false, "normalized": false,
        }));
    }
    let merges: Vec<Value> = bpe.merges().iter().map(|&(a, b)| json!([written(a), written(b)])).collect();
    let byte_level = |regex: bool| json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": regex});
    let patterns: Vec<&str> = bpe.patterns.iter().map(|pattern| pattern.as_str()).collect();
    let pre_tokenizer = match &patterns[..] {
        [] => byte_level(false),
        [GPT2_PATTERN] => byte_level(true),
        others => {
            let split = |p: &&str| json!({"type": "Split", "pattern": {"Regex": p}, "behavior": "Isolated", "invert": false});
            let parts: Vec<Value> = others.iter().map(split).chain([byte_level(false)]).collect();
            json!({"type": "Sequence", "pretokenizers": parts})
        }
    };
    let file = json!({
        "version": "1.0",
        "truncation": null,
        "padding": null,
        "added_tokens": added,
        "normalizer": null,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": null,
        "decoder": byte_level(true),
        "model": {
            "type": "BPE", "dropout": null, "unk_token": null,
            "continuing_subword_prefix": null, "end_of_word_suffix": null,
            "fuse_unk": false, "byte_fallback": false, "ignore_merges": false,
            "vocab": vocabulary, "merges": merges,
        },
    });
    write_json(path, &file)
}
