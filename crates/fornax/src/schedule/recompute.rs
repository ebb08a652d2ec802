//! Recomputation inside a plan: values that are cheaper to compute again than to store are cloned into the groups
//! that use them. A backward pass computes `x - mean` again from `x` instead of loading it.

use super::edges::{Class, Edge, Edges};
use super::fuse::{Group, Kind, edge_fits, role_of};
use crate::graph::{Graph, NodeId, Op};
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// The most ops that are computed again to spare a store and a load.
const MAX_RECOMPUTE: usize = 24;

/// From which memories values can be computed again.
pub(super) struct Roots {
    /// Per elementwise node the memories of about its size that it takes; three stand for many.
    pub of: Vec<SmallVec<[NodeId; 3]>>,
    /// Nodes that are such memories: all but elementwise ones, and those that several users share and that take
    /// more than one memory themselves.
    pub anchor: Vec<bool>,
}

impl Roots {
    pub fn new(graph: &Graph, edges: &Edges) -> Roots {
        let mut roots = Roots { of: vec![SmallVec::new(); graph.len()], anchor: vec![true; graph.len()] };
        for (id, node) in graph.iter() {
            let at = id.index();
            if edges.class[at] != Class::Element || matches!(node.op, Op::Gather(_)) {
                continue;
            }
            let mut found: SmallVec<[NodeId; 3]> = SmallVec::new();
            for edge in &edges.src[at] {
                let base = edge.base.index();
                if edges.class[base] == Class::Free || graph.node(edge.base).numel() * 2 <= node.numel() {
                    continue;
                }
                let own = [edge.base];
                let below = if roots.anchor[base] { &own[..] } else { &roots.of[base][..] };
                for root in below {
                    if !found.contains(root) && found.len() < 3 {
                        found.push(*root);
                    }
                }
            }
            roots.anchor[at] = found.len() > 1 && edges.users[at].len() > 1;
            roots.of[at] = found;
        }
        roots
    }
}

/// Clones cheap values into the groups that use them: a value goes if what it needs there is no more to load
/// than the value itself, so its store, its load and its memory are spared.
pub(super) fn recompute(graph: &Graph, edges: &Edges, roots: &Roots, groups: &mut [Group]) {
    let mut home = vec![usize::MAX; graph.len()];
    // What lies in memory whoever computes it again.
    let mut kept = vec![false; graph.len()];
    graph.outputs.iter().for_each(|o| kept[o.index()] = true);
    for (at, group) in groups.iter().enumerate() {
        for n in &group.nodes {
            home[n.index()] = at;
            // Of a product's epilogue that which was rounded to fewer bytes, not the product that it was made of.
            let narrows = |e: &Edge| graph.node(*n).dtype.size() < graph.node(e.base).dtype.size();
            kept[n.index()] |= group.kind == Kind::MatMul
                && graph.node(*n).op == Op::Cast
                && edges.src[n.index()].iter().any(narrows);
        }
    }
    // Fusion stops at a fence, so what lies behind it is stored.
    edges.src.iter().flatten().filter(|e| e.fence).for_each(|e| kept[e.base.index()] = true);
    for index in (0..graph.len()).rev() {
        let id = NodeId(index as u32);
        if home[index] == usize::MAX || edges.class[index] != Class::Element || kept[index] {
            continue;
        }
        let mut targets: Vec<usize> = edges.users[index]
            .iter()
            .filter(|u| home[u.index()] != usize::MAX)
            .flat_map(|u| {
                let clones =
                    groups.iter().enumerate().filter(|(_, g)| g.clones.contains(u)).map(|(at, _)| at);
                std::iter::once(home[u.index()]).chain(clones).collect::<Vec<_>>()
            })
            .filter(|&at| at != home[index])
            .collect();
        targets.sort_unstable();
        targets.dedup();
        // All users or none: a value that is stored for one user can be loaded by the others.
        let plans: Option<Vec<(usize, Vec<NodeId>)>> = targets
            .iter()
            .map(|&at| clone_set(graph, edges, roots, &groups[at], &home, &kept, id).map(|set| (at, set)))
            .collect();
        for (at, set) in plans.into_iter().flatten() {
            groups[at].clones.extend(set);
        }
    }
}

/// The nodes to clone into `group` so that it need not load `id`, or `None` if loading is better.
fn clone_set(
    graph: &Graph,
    edges: &Edges,
    roots: &Roots,
    group: &Group,
    home: &[usize],
    kept: &[bool],
    id: NodeId,
) -> Option<Vec<NodeId>> {
    if group.kind == Kind::Opaque {
        return None;
    }
    let members = |n: NodeId| group.computes(n);
    let loaded: FxHashSet<NodeId> = group
        .nodes
        .iter()
        .chain(&group.clones)
        .flat_map(|n| &edges.src[n.index()])
        .map(|e| e.base)
        .filter(|&b| b != id && !members(b))
        .collect();
    // In memory anyway: data, outputs, what a product or another kernel reads, and what other groups use and
    // cannot compute from one memory.
    let in_memory = |n: NodeId| {
        let class = edges.class[n.index()];
        let mut users = edges.users[n.index()].iter().filter(|u| home[u.index()] != usize::MAX);
        class == Class::Input
            || kept[n.index()]
            || matches!(class, Class::MatMul | Class::Opaque)
            || users.clone().any(|u| matches!(edges.class[u.index()], Class::MatMul | Class::Opaque))
            || roots.anchor[n.index()] && users.any(|u| home[u.index()] != home[n.index()])
    };
    let node = graph.node(id);
    let full = node.numel();
    let mut cost = 0;
    let mut set = vec![];
    let mut stack = vec![id];
    let mut seen: FxHashSet<NodeId> = FxHashSet::default();
    if in_memory(id) {
        return None;
    }
    while let Some(next) = stack.pop() {
        if !seen.insert(next) {
            continue;
        }
        if next != id && (members(next) || edges.class[next.index()] == Class::Free) {
            if edges.class[next.index()] != Class::Free {
                return None;
            }
            continue;
        }
        let size = graph.node(next).numel();
        let here = in_memory(next) || size * 8 <= full;
        if next != id && (loaded.contains(&next) || here) {
            if !loaded.contains(&next) {
                cost += size * graph.node(next).dtype.size();
            }
            continue;
        }
        let cloneable = edges.class[next.index()] == Class::Element
            && size == full
            && !matches!(graph.node(next).op, Op::Gather(_))
            && role_of(graph, edges, &group.space, next).is_some();
        if !cloneable || set.len() == MAX_RECOMPUTE {
            return None;
        }
        set.push(next);
        stack.extend(edges.src[next.index()].iter().map(|e| e.base));
    }
    // A quarter more is allowed for row statistics and the like.
    if cost * 4 > full * node.dtype.size() * 5 {
        return None;
    }
    // Everything must be readable where it is computed now.
    let inside = |n: NodeId| members(n) || set.contains(&n);
    let readable = |n: NodeId| {
        edges.src[n.index()]
            .iter()
            .enumerate()
            .all(|(i, e)| edge_fits(graph, edges, &group.space, n, i, e, inside(e.base)))
    };
    let users_fit = group.nodes.iter().chain(&group.clones).all(|&n| {
        edges.src[n.index()]
            .iter()
            .enumerate()
            .all(|(i, e)| e.base != id || edge_fits(graph, edges, &group.space, n, i, e, true))
    });
    (users_fit && set.iter().all(|&n| readable(n))).then_some(set)
}
