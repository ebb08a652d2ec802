//! A WGSL module under construction: bindings, helper functions, and elements in words. All memory is declared
//! as arrays of 1, 2 or 4 words of 32 bits; elements of any dtype are taken out of and put into words here.

use super::functions::Function;
use super::{Dispatch, Printer, grid};
use crate::dtype::DType;
use crate::error::{Error, Result};
use std::collections::BTreeSet;
use std::fmt::Write;

/// What is bound to a dispatch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Binding {
    /// `reads[n]`, read-only.
    Read(usize),
    /// `writes[n]`, read and written.
    Write(usize),
    /// Scratch memory n of the pipeline.
    Scratch(usize),
    /// Four words of the device, in which kernels report bad indices.
    Status,
    /// The same, only read: kernels that overwrite what they read do nothing once something was reported.
    Reported,
    /// The launch arguments, where immediates do not exist.
    Args,
}

struct Declared {
    binding: Binding,
    name: String,
    /// Words of an array element: 1, 2 or 4.
    words: usize,
    atomic: bool,
    /// The type of an element, where it is not words.
    element: Option<&'static str>,
}

/// The text of one dispatch, as it grows.
pub(crate) struct Module<'a> {
    pub printer: Printer<'a>,
    declared: Vec<Declared>,
    functions: BTreeSet<Function>,
    /// Declarations of workgroup memory, and the bytes that it takes.
    shared: (String, usize),
    /// The statements of `main`.
    pub body: String,
    names: usize,
    uses_args: bool,
}

/// The WGSL type in which values of a dtype are computed.
pub(crate) fn value_type(dtype: DType, int64: bool) -> &'static str {
    match dtype {
        DType::F32 | DType::F16 | DType::BF16 | DType::F64 => "f32",
        DType::I32 => "i32",
        DType::I64 if int64 => "i64",
        DType::I64 => "i32",
        DType::U32 | DType::U8 => "u32",
        DType::Bool => "bool",
    }
}

/// The bytes of a WGSL type in workgroup memory.
pub(super) fn size_of(element: &str) -> usize {
    match element.strip_prefix("vec4<").and_then(|rest| rest.strip_suffix('>')) {
        Some(one) => 4 * size_of(one),
        None if element.ends_with("64") => 8,
        None if element == "f16" => 2,
        None => 4,
    }
}

/// At which bit of its word an element of one or two bytes begins. Not as a remainder: of `(word >> 8u * (a % 4u)) & 255u`
/// DX12's older compiler makes something else where it knows that the address is odd.
fn place_in_word(address: &str, size: usize) -> String {
    format!("({address} * {}u) & 31u", size * 8)
}

/// Appends a line to the body.
macro_rules! line {
    ($module:expr, $($arg:tt)*) => {{
        let _ = writeln!($module.body, $($arg)*);
    }};
}
pub(crate) use line;

impl<'a> Module<'a> {
    pub fn new(printer: Printer<'a>) -> Module<'a> {
        Module {
            printer,
            declared: vec![],
            functions: BTreeSet::new(),
            shared: Default::default(),
            body: String::new(),
            names: 0,
            uses_args: false,
        }
    }

    /// A name that nothing else has, not even a type (as `u32` does).
    pub fn fresh(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}_{}", self.names)
    }

    /// The memory behind a read: the write that shares it, if the launch made them one.
    pub fn read(&self, read: usize) -> Binding {
        let mut pairs = self.printer.kernel.in_place.iter().zip(self.printer.aliased);
        let shared = pairs.find(|(pair, aliased)| **aliased && pair.1 == read);
        shared.map_or(Binding::Read(read), |(pair, _)| Binding::Write(pair.0))
    }

    /// Declares a memory whose elements are accessed `words` at a time; more wins over less.
    pub fn want(&mut self, binding: Binding, words: usize) -> &mut Module<'a> {
        let words = words.clamp(1, 4);
        match self.declared.iter_mut().find(|d| d.binding == binding) {
            Some(d) => d.words = d.words.max(words),
            None => {
                let name = match binding {
                    Binding::Read(n) => format!("r{n}"),
                    Binding::Write(n) => format!("w{n}"),
                    Binding::Scratch(n) => format!("s{n}"),
                    Binding::Status => "status".into(),
                    Binding::Reported => "reported".into(),
                    Binding::Args => "args".into(),
                };
                self.declared.push(Declared { binding, name, words, atomic: false, element: None });
            }
        }
        self
    }

    /// Declares a memory in which lanes write parts of words.
    pub fn want_atomic(&mut self, binding: Binding) {
        self.want(binding, 1);
        if let Some(d) = self.declared.iter_mut().find(|d| d.binding == binding) {
            d.atomic = true;
        }
    }

    /// Declares a memory in which lanes write single elements that are smaller than words. Halves need no atomics where
    /// the adapter knows them.
    pub fn want_parts(&mut self, binding: Binding, dtype: DType) {
        if dtype == DType::F16 && self.printer.caps.f16 {
            self.want_typed(binding, 1, "f16");
        } else {
            self.want_atomic(binding);
        }
    }

    /// The name of a memory that is declared as single halves.
    fn single_halves(&self, binding: Binding) -> Option<String> {
        let declared = self.declared.iter().find(|d| d.binding == binding && d.element == Some("f16"));
        declared.map(|d| d.name.clone())
    }

    /// Declares a memory of halves that stay halves, four at a time; only [`Module::vector`] may read it.
    pub fn want_halves(&mut self, binding: Binding) {
        self.want_typed(binding, 2, "vec4<f16>");
    }

    /// Declares a memory of floats, for cooperative matrices, and gives its name.
    pub fn want_floats(&mut self, binding: Binding) -> String {
        self.want_typed(binding, 1, "f32")
    }

    fn want_typed(&mut self, binding: Binding, words: usize, element: &'static str) -> String {
        self.want(binding, words);
        let declared = self.declared.iter_mut().find(|d| d.binding == binding);
        declared.map_or_else(String::new, |d| {
            d.element = Some(element);
            d.name.clone()
        })
    }

    /// The `at`-th vector of a memory, of the type that was declared.
    pub fn vector(&self, binding: Binding, at: &str) -> String {
        format!("{}[{at}]", self.declared(binding).0)
    }

    /// Declares an array in workgroup memory; once, if that is done again. Truth values lie there as words: from arrays of
    /// bool an H200 reads others than were written (Vulkan, driver 580).
    pub fn shared(&mut self, name: &str, element: &str, len: usize) {
        debug_assert!(element != "bool", "{name}: truth values in workgroup memory");
        self.in_workgroup(
            format!("var<workgroup> {name}: array<{element}, {len}>;\n"),
            size_of(element) * len,
        );
    }

    /// Declares a word in workgroup memory.
    pub fn shared_word(&mut self, name: &str, word: &str) {
        self.in_workgroup(format!("var<workgroup> {name}: {word};\n"), 4);
    }

    fn in_workgroup(&mut self, declaration: String, bytes: usize) {
        let (declarations, taken) = &mut self.shared;
        if !declarations.contains(&declaration) {
            *declarations += &declaration;
            *taken += bytes;
        }
    }

    /// Includes a helper function and gives its name.
    pub fn function(&mut self, f: Function) -> &'static str {
        for &needed in f.needs(self.printer.caps) {
            self.function(needed);
        }
        self.functions.insert(f);
        f.name()
    }

    /// The exponential of an expression.
    pub fn exp(&mut self, x: &str) -> String {
        let exp = if self.printer.caps.exp_keeps_nan { "exp" } else { self.function(Function::Exp) };
        format!("{exp}({x})")
    }

    fn declared(&self, binding: Binding) -> (&str, usize, bool) {
        match self.declared.iter().find(|d| d.binding == binding) {
            Some(d) if d.atomic => (&d.name, 1, true),
            Some(d) => (&d.name, d.words, false),
            None => unreachable!("printers declare a memory with want() before they use it"),
        }
    }

    /// Expressions for `count` words from word address `at`, which is a multiple of `count` if that is 2 or 4.
    pub fn words(&mut self, binding: Binding, at: &str, count: usize) -> Vec<String> {
        let (name, width, atomic) = self.declared(binding);
        let name = name.to_string();
        if atomic {
            return (0..count).map(|i| format!("atomicLoad(&{name}[{at} + {i}u])")).collect();
        }
        if width == 1 {
            return (0..count).map(|i| format!("{name}[{at} + {i}u]")).collect();
        }
        if count < width {
            let part = |i: usize| format!("{name}[({at} + {i}u) / {width}u][({at} + {i}u) % {width}u]");
            return (0..count).map(part).collect();
        }
        let mut out = vec![];
        for i in 0..count / width {
            let whole = self.fresh("q");
            line!(self, "let {whole} = {name}[({at}) / {width}u + {i}u];");
            out.extend(["x", "y", "z", "w"][..width].iter().map(|c| format!("{whole}.{c}")));
        }
        out
    }

    /// Writes words from word address `at` on; see [`Module::words`].
    pub fn put_words(&mut self, binding: Binding, at: &str, words: &[String]) {
        let (name, width, atomic) = self.declared(binding);
        let name = name.to_string();
        if atomic {
            for (i, word) in words.iter().enumerate() {
                line!(self, "atomicStore(&{name}[{at} + {i}u], {word});");
            }
        } else if width == 1 {
            for (i, word) in words.iter().enumerate() {
                line!(self, "{name}[{at} + {i}u] = {word};");
            }
        } else if words.len() < width {
            for (i, word) in words.iter().enumerate() {
                line!(self, "{name}[({at} + {i}u) / {width}u][({at} + {i}u) % {width}u] = {word};");
            }
        } else {
            for (i, part) in words.chunks(width).enumerate() {
                line!(self, "{name}[({at}) / {width}u + {i}u] = vec{width}<u32>({});", part.join(", "));
            }
        }
    }

    /// Values of `count` consecutive elements from element address `at`. If there is more than one, `at` is a
    /// multiple of `count`, and `count` elements fill whole words.
    pub fn elements(&mut self, binding: Binding, dtype: DType, at: &str, count: usize) -> Vec<String> {
        if let Some(name) = self.single_halves(binding) {
            return (0..count).map(|i| format!("f32({name}[{at} + {i}u])")).collect();
        }
        let size = dtype.size();
        if size >= 4 {
            let (per, address) = (size / 4, if size == 8 { format!("({at}) * 2u") } else { at.to_string() });
            let words = self.words(binding, &address, count * per);
            return words.chunks(per).map(|w| self.decode(dtype, w, 0)).collect();
        }
        let per = 4 / size;
        if count >= per {
            let words = self.words(binding, &format!("({at}) / {per}u"), count / per);
            let named: Vec<String> = words.iter().map(|w| self.bind("u", w)).collect();
            return (0..count).map(|i| self.decode(dtype, &named[i / per..i / per + 1], i % per)).collect();
        }
        // All of them in one word.
        let address = self.bind("a", at);
        let word = self.words(binding, &format!("{address} / {per}u"), 1).remove(0);
        let word = self.bind("u", &format!("({word} >> ({}))", place_in_word(&address, size)));
        (0..count).map(|i| self.decode(dtype, std::slice::from_ref(&word), i)).collect()
    }

    /// Values of the `at`-th four elements.
    pub fn fours(&mut self, binding: Binding, dtype: DType, at: &str) -> Vec<String> {
        let (name, width, atomic) = self.declared(binding);
        let single = self.single_halves(binding).is_some();
        if width != dtype.size() || width == 1 || atomic || single {
            return self.elements(binding, dtype, &format!("({at}) * 4u"), 4);
        }
        let (whole, per) = (format!("{name}[{at}]"), 4 / width);
        let whole = self.bind("q", &whole);
        let words: Vec<String> =
            ["x", "y", "z", "w"][..width].iter().map(|c| format!("{whole}.{c}")).collect();
        (0..4).map(|i| self.decode(dtype, &words[i / per..i / per + 1], i % per)).collect()
    }

    /// Stores consecutive elements; see [`Module::elements`]. Parts of words need [`Module::want_parts`].
    pub fn store(&mut self, write: Binding, dtype: DType, at: &str, values: &[String]) {
        if let Some(name) = self.single_halves(write) {
            for (i, value) in values.iter().enumerate() {
                line!(self, "{name}[{at} + {i}u] = f16({value});");
            }
            return;
        }
        let size = dtype.size();
        let per = 4 / size.min(4);
        if size < 4 && values.len() < per {
            let (name, _, atomic) = self.declared(write);
            debug_assert!(atomic, "parts of words are written with atomics");
            let name = name.to_string();
            for (i, value) in values.iter().enumerate() {
                let address = self.bind("a", &format!("{at} + {i}u"));
                let bits = self.encode(dtype, std::slice::from_ref(value)).remove(0);
                let shift = self.bind("h", &place_in_word(&address, size));
                let ones = if size == 1 { "255u" } else { "65535u" };
                line!(self, "atomicAnd(&{name}[{address} / {per}u], ~({ones} << {shift}));");
                line!(self, "atomicOr(&{name}[{address} / {per}u], {bits} << {shift});");
            }
            return;
        }
        let address = match size {
            8 => format!("({at}) * 2u"),
            4 => at.to_string(),
            _ => format!("({at}) / {per}u"),
        };
        let words = self.encode(dtype, values);
        self.put_words(write, &address, &words);
    }

    /// Gives an expression a name.
    pub fn bind(&mut self, stem: &str, expression: &str) -> String {
        let name = self.fresh(stem);
        line!(self, "let {name} = {expression};");
        name
    }

    /// Element `i` of the words that hold it.
    fn decode(&mut self, dtype: DType, words: &[String], i: usize) -> String {
        let w = &words[0];
        match dtype {
            DType::F32 | DType::F64 => format!("bitcast<f32>({w})"),
            DType::I32 => format!("bitcast<i32>({w})"),
            DType::U32 => w.clone(),
            DType::F16 => format!("unpack2x16float({w}).{}", ["x", "y"][i]),
            DType::BF16 if i == 0 => format!("bitcast<f32>({w} << 16u)"),
            DType::BF16 => format!("bitcast<f32>({w} & 0xffff0000u)"),
            DType::U8 => format!("(({w} >> {}u) & 255u)", i * 8),
            DType::Bool => format!("((({w} >> {}u) & 255u) != 0u)", i * 8),
            DType::I64 if self.printer.caps.int64 => {
                format!("(i64({w}) | (i64({}) << 32u))", words[1])
            }
            DType::I64 => format!("bitcast<i32>({w})"),
        }
    }

    /// The words that hold values; what does not fill a word is padded with zeros.
    fn encode(&mut self, dtype: DType, values: &[String]) -> Vec<String> {
        match dtype {
            DType::F32 | DType::I32 | DType::F64 => {
                values.iter().map(|v| format!("bitcast<u32>({v})")).collect()
            }
            DType::U32 => values.to_vec(),
            DType::F16 => {
                let pack = self.function(Function::PackHalf);
                let pair = |p: &[String]| {
                    format!("{pack}({}, {})", p[0], p.get(1).map_or("0.0", |second| second.as_str()))
                };
                values.chunks(2).map(pair).collect()
            }
            DType::BF16 => {
                let bits = self.function(Function::BrainBits);
                let pair = |p: &[String]| match p.get(1) {
                    Some(second) => format!("({bits}({}) | ({bits}({second}) << 16u))", p[0]),
                    None => format!("{bits}({})", p[0]),
                };
                values.chunks(2).map(pair).collect()
            }
            DType::U8 | DType::Bool => {
                let byte = |v: &String, i: usize| match dtype {
                    DType::Bool => format!("select(0u, {}u, {v})", 1u32 << (8 * i)),
                    _ => format!("(({v} & 255u) << {}u)", 8 * i),
                };
                let word = |p: &[String]| {
                    let bytes: Vec<String> = p.iter().enumerate().map(|(i, v)| byte(v, i)).collect();
                    format!("({})", bytes.join(" | "))
                };
                values.chunks(4).map(word).collect()
            }
            DType::I64 if self.printer.caps.int64 => values
                .iter()
                .flat_map(|v| {
                    [format!("u32({v} & 0xffffffffli)"), format!("u32(({v} >> 32u) & 0xffffffffli)")]
                })
                .collect(),
            DType::I64 => values
                .iter()
                .flat_map(|v| [format!("bitcast<u32>({v})"), format!("bitcast<u32>({v} >> 31u)")])
                .collect(),
        }
    }

    /// The value of launch argument n. Every argument takes two words.
    pub fn arg(&mut self, n: usize, dtype: DType) -> String {
        self.uses_args = true;
        let word = |i: usize| format!("args.v{}[{}]", i / 4, i % 4);
        let words = [word(2 * n), word(2 * n + 1)];
        match dtype {
            DType::F16 | DType::BF16 => format!("bitcast<f32>({})", words[0]),
            DType::U8 => words[0].clone(),
            DType::Bool => format!("({} != 0u)", words[0]),
            _ => self.decode(dtype, &words, 0),
        }
    }

    /// The finished dispatch: `lanes` lanes a workgroup, at least `groups` workgroups. In `main`, `group` is the
    /// number of the workgroup and `lane` the lane in it; workgroups past `groups` are the text's own business.
    pub fn finish(mut self, lanes: u32, groups: usize) -> Result<Dispatch> {
        let caps = self.printer.caps;
        let grid = grid(groups, caps)?;
        let limits = [
            ("lanes of a workgroup", lanes as usize, caps.lanes),
            ("bytes of workgroup memory", self.shared.1, caps.workgroup_bytes),
            ("memories at once", self.declared.len(), caps.buffers),
        ];
        if let Some((what, needed, most)) = limits.iter().find(|(_, needed, most)| needed > &(*most as usize))
        {
            let detail = format!("{}: {needed} {what} are more than {most}", self.printer.kernel.label);
            return Err(Error::Device { device: "wgpu".into(), detail });
        }
        let mut text = String::new();
        if caps.f16 {
            text += "enable f16;\n";
        }
        if self.body.contains("coop") {
            text += "enable wgpu_cooperative_matrix;\n";
        }
        if self.uses_args {
            let vectors = (self.printer.kernel.args.len() * 2).div_ceil(4);
            // Not an array: DX12's older compiler fails where a number out of an array of one is subtracted.
            let fields: Vec<_> = (0..vectors).map(|i| format!("v{i}: vec4<u32>")).collect();
            let _ = writeln!(text, "struct Args {{ {} }}", fields.join(", "));
            if caps.immediates && vectors * 16 <= 128 {
                text += "var<immediate> args: Args;\n";
            } else {
                self.declared.push(Declared {
                    binding: Binding::Args,
                    name: "args".into(),
                    words: 4,
                    atomic: false,
                    element: None,
                });
            }
        }
        let mut bindings = vec![];
        for (i, d) in self.declared.iter().enumerate() {
            let access = match d.binding {
                Binding::Read(_) | Binding::Reported => "storage, read",
                Binding::Args => {
                    let _ = writeln!(text, "@group(0) @binding({i}) var<uniform> args: Args;");
                    bindings.push(d.binding);
                    continue;
                }
                _ => "storage, read_write",
            };
            let element = match (d.element, d.atomic, d.words) {
                (Some(element), ..) => element.to_string(),
                (_, true, _) => "atomic<u32>".to_string(),
                (_, _, 1) => "u32".to_string(),
                (_, _, n) => format!("vec{n}<u32>"),
            };
            let _ = writeln!(text, "@group(0) @binding({i}) var<{access}> {}: array<{element}>;", d.name);
            bindings.push(d.binding);
        }
        for f in &self.functions {
            text += &f.text(caps);
        }
        text += &self.shared.0;
        let _ = write!(
            text,
            "@compute @workgroup_size({lanes})\nfn main(@builtin(workgroup_id) workgroup: vec3<u32>, \
             @builtin(local_invocation_index) lane: u32) {{\nlet group = workgroup.x + workgroup.y * {}u;\n{}}}\n",
            grid[0], self.body
        );
        Ok(Dispatch { text, bindings, grid })
    }
}
