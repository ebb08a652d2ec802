//! Cooperative matrices on adapters that have none.

use super::super::print::Dispatch;
use super::*;

/// Makes an adapter without cooperative matrices compute with them. Each lane of a subgroup keeps eight elements of a sum,
/// two rows apart, and of the sides the rows and the column that it needs for them.
pub(crate) fn without_cooperative(gpu: &Wgpu, mut dispatch: Dispatch) -> Dispatch {
    let real = gpu.device.features().contains(wgpu::Features::EXPERIMENTAL_COOPERATIVE_MATRIX);
    if real || !dispatch.text.contains("coop_mat16x16") {
        return dispatch;
    }
    let between = |line: &str, from: &str, to: &str| -> String {
        let rest = line.split_once(from).map_or("", |(_, rest)| rest);
        rest.split_once(to).map_or("", |(part, _)| part).into()
    };
    // Memory, address of the first element and elements from row to row, of single elements or vectors.
    let place = |line: &str| {
        let (memory, at) = (between(line, "&", "["), between(line, "[", "], "));
        let stride = between(line, "], ", ")");
        match at.strip_suffix(" / 4u") {
            Some(at) => (memory, at.to_string(), format!("4u * {stride}"), true),
            None => (memory, at, stride, false),
        }
    };
    // How many elements a lane keeps of each kind of matrix.
    const KEPT: [(&str, usize); 3] =
        [("coop_mat16x16<f32, C>()", 8), ("coop_mat16x16<f16, A>()", 128), ("coop_mat16x16<f16, B>()", 16)];
    // The number is nothing, but compilers do not know it and unroll no loop.
    let each = |i: &str, n: usize| format!("for (var {i} = 0u; {i} < {n}u + (lane >> 16u); {i}++)");
    let plain = |line: &str| -> String {
        if line.starts_with("enable wgpu_cooperative_matrix") {
            String::new()
        } else if let Some((zeros, n)) = KEPT.iter().find(|(zeros, _)| line.contains(zeros)) {
            line.replace(zeros, &format!("array<f32, {n}>()"))
        } else if line.contains("coopStoreT") || line.contains("<f32, C>>(") {
            let (memory, at, stride, vectors) = place(line);
            let at = format!("{at} + (e / 16u) * {stride} + e % 16u");
            let element = if vectors { format!("[({at}) / 4u][({at}) % 4u]") } else { format!("[{at}]") };
            let moved = match line.split_once(" = ") {
                Some((sum, _)) => format!("{sum}[i] = {memory}{element};"),
                None => format!("{memory}{element} = {}[i];", between(line, "(", ", &")),
            };
            format!("{} {{ let e = lane % 32u + 32u * i; {moved} }}", each("i", 8))
        } else if line.contains("coopLoad") {
            let (side, (memory, at, stride, _)) = (between(line, "", " ="), place(line));
            let (down, across) =
                if line.contains("coopLoadT") { (stride, "1u".into()) } else { ("1u".into(), stride) };
            let (count, row, column) = match line.contains("<f16, A>") {
                true => (128, "(lane % 32u / 16u + e / 16u * 2u)", "e % 16u"),
                false => (16, "e", "lane % 16u"),
            };
            let name = side.trim_start_matches("let ");
            let declared =
                if name == side { String::new() } else { format!("var {name}: array<f32, {count}>;") };
            let x = format!("let x = {at} + {row} * ({down}) + {column} * ({across});");
            let taken = format!("{x} {name}[e] = f32({memory}[x / 4u][x % 4u]);");
            format!("{declared} {} {{ {taken} }}", each("e", count))
        } else if line.contains("coopMultiplyAdd") {
            let (sum, a, b) = (between(line, "", " ="), between(line, "(", ","), between(line, ", ", ", "));
            let added = format!("{sum}[i] += {a}[i * 16u + k] * {b}[k];");
            format!("{} {{ {} {{ {added} }} }}", each("i", 8), each("k", 16))
        } else {
            line.into()
        }
    };
    dispatch.text = dispatch.text.lines().map(plain).collect::<Vec<_>>().join("\n");
    dispatch
}
