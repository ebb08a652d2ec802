//! Fusion: which nodes are computed together. Every computed node starts as a group of its own; groups merge
//! along the edges between them while one iteration space can hold both and no cycle arises.

use super::edges::{Class, Edge, Edges};
use super::recompute::{Roots, recompute};
use super::space::{Role, Space};
use crate::error::{Error, Result};
use crate::graph::{Graph, NodeId, Op};
use crate::view::View;
use rustc_hash::{FxHashMap, FxHashSet};

/// The most nodes of one kernel; longer chains become several kernels.
const MAX_NODES: usize = 1000;
/// The most full-size operands, beside the product, that an epilogue reads.
const MAX_EPILOGUE_LOADS: usize = 2;
/// Reductions of a kernel that may have only single numbers in common.
const MAX_STRANGERS: usize = 8;

/// What a group becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Loop,
    MatMul,
    Opaque,
}

/// Nodes that are computed together.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub kind: Kind,
    pub space: Space,
    /// Members, in topological order.
    pub nodes: Vec<NodeId>,
    /// Members of other groups that are computed here again.
    pub clones: FxHashSet<NodeId>,
    /// Values that lie in memory when the group has run.
    pub stored: Vec<NodeId>,
}

impl Group {
    /// Whether the value is made in this group (and need not be loaded).
    pub fn computes(&self, id: NodeId) -> bool {
        self.nodes.binary_search(&id).is_ok() || self.clones.contains(&id)
    }
}

struct Fuser<'a> {
    graph: &'a Graph,
    edges: &'a Edges,
    groups: Vec<Option<Group>>,
    /// Per node its group; `usize::MAX` for nodes that are not computed.
    of: Vec<usize>,
    roots: Roots,
    /// The most memories of one kernel.
    memories: usize,
    is_output: Vec<bool>,
}

/// Forms the groups of a graph. Without `fusion` every node is its own.
pub(super) fn fuse(graph: &Graph, edges: &Edges, fusion: bool, memories: usize) -> Result<Vec<Group>> {
    let mut fuser = Fuser::new(graph, edges, memories);
    if fusion {
        // What only a reduction wants goes there, before products take their epilogues.
        fuser.merge_into_users(true);
        fuser.epilogues();
        for _ in 0..3 {
            let before = fuser.count();
            fuser.merge_into_users(false);
            fuser.merge_into_sources();
            if fuser.count() == before {
                break;
            }
        }
        fuser.siblings();
    }
    fuser.attention_families();
    let roots = fuser.roots;
    let mut groups: Vec<Group> = fuser.groups.into_iter().flatten().collect();
    if fusion {
        recompute(graph, edges, &roots, &mut groups);
    }
    order(graph, edges, groups)
}

impl<'a> Fuser<'a> {
    fn new(graph: &'a Graph, edges: &'a Edges, memories: usize) -> Self {
        let mut is_output = vec![false; graph.len()];
        graph.outputs.iter().for_each(|o| is_output[o.index()] = true);
        let mut groups = vec![];
        let mut of = vec![usize::MAX; graph.len()];
        for (id, node) in graph.iter() {
            let (kind, space) = match (edges.class[id.index()], &node.op) {
                (Class::Element, _) => (Kind::Loop, Space::map(&node.shape)),
                (Class::Reduce, Op::Reduce(_, axes)) => {
                    (Kind::Loop, Space::reduction(&graph.node(node.src[0]).shape, axes))
                }
                (Class::MatMul, _) => (Kind::MatMul, Space::exact(&node.shape)),
                (Class::Opaque, _) => (Kind::Opaque, Space::exact(&node.shape)),
                _ => continue,
            };
            of[id.index()] = groups.len();
            let (clones, stored) = (FxHashSet::default(), vec![]);
            groups.push(Some(Group { kind, space, nodes: vec![id], clones, stored }));
        }
        Fuser { roots: Roots::new(graph, edges), graph, edges, groups, of, memories, is_output }
    }

    fn count(&self) -> usize {
        self.groups.iter().flatten().count()
    }

    fn group(&self, at: usize) -> &Group {
        self.groups[at].as_ref().expect("group numbers in `of` are alive")
    }

    /// Elementwise users of matrix products become their epilogues.
    fn epilogues(&mut self) {
        for first in 0..self.groups.len() {
            if !self.groups[first].as_ref().is_some_and(|g| g.kind == Kind::MatMul) {
                continue;
            }
            let mut refused: FxHashSet<usize> = FxHashSet::default();
            loop {
                let users = self.group(first).nodes.iter().flat_map(|n| &self.edges.users[n.index()]);
                let candidates: std::collections::BTreeSet<NodeId> = users
                    .copied()
                    .filter(|u| {
                        let at = self.of[u.index()];
                        at != usize::MAX
                            && at != first
                            && !refused.contains(&at)
                            && self.edges.class[u.index()] == Class::Element
                            && self.group(at).kind == Kind::Loop
                    })
                    .collect();
                let Some(&next) = candidates.first() else { break };
                let at = self.of[next.index()];
                if !self.try_merge(first, at) {
                    refused.insert(at);
                }
            }
        }
    }

    /// Loops with one user group join it: that never makes a cycle, unless others wait for them too.
    fn merge_into_users(&mut self, only_reductions: bool) {
        for at in (0..self.groups.len()).rev() {
            let Some(group) = &self.groups[at] else { continue };
            if group.kind != Kind::Loop {
                continue;
            }
            let mut users = group
                .nodes
                .iter()
                .flat_map(|n| &self.edges.users[n.index()])
                .map(|u| self.of[u.index()])
                .filter(|&g| g != at && g != usize::MAX);
            let Some(user) = users.next() else { continue };
            let fits = self.group(user).kind == Kind::Loop
                && (!only_reductions || self.group(user).space.has_reduced());
            if fits && users.all(|g| g == user) {
                let awaited = group.nodes.iter().any(|n| self.edges.awaited[n.index()]);
                self.merge(user, at, awaited);
            }
        }
    }

    /// Loops join the loops whose results they use.
    fn merge_into_sources(&mut self) {
        for id in 0..self.graph.len() {
            let mut at = self.of[id];
            if at == usize::MAX || self.group(at).kind != Kind::Loop {
                continue;
            }
            for edge in &self.edges.src[id] {
                let from = self.of[edge.base.index()];
                let other = from != usize::MAX && from != at;
                let fits = other && self.group(from).kind == Kind::Loop && !self.is_strange(edge.base, at);
                if fits && self.try_merge(from, at) {
                    at = from;
                }
            }
        }
    }

    /// Whether a value is a number that lies in a group with reductions but needs none of them. Whoever uses only that has
    /// nothing to do with the reductions, and should rather join those who use it: an optimizer's update would be cut in two by
    /// the verdict on overflows, since both multiply by the same scale.
    fn is_strange(&self, id: NodeId, user: usize) -> bool {
        let home = self.of[id.index()];
        if self.graph.node(id).numel() > 1
            || self.group(user).space.numel() == 1
            || !self.group(home).space.has_reduced()
        {
            return false;
        }
        let (mut stack, mut seen) = (vec![id], FxHashSet::default());
        while let Some(id) = stack.pop() {
            if self.edges.class[id.index()] == Class::Reduce {
                return false;
            }
            if !seen.insert(id) {
                continue;
            }
            stack.extend(depends(self.edges, id).filter(|n| self.of[n.index()] == home));
        }
        true
    }

    /// Reductions over one space that read the same memory share a kernel, and so do numbers made of one.
    fn siblings(&mut self) {
        let mut readers: FxHashMap<NodeId, Vec<usize>> = FxHashMap::default();
        for (at, group) in self.groups.iter().enumerate() {
            let fits = |g: &&Group| g.kind == Kind::Loop && (g.space.has_reduced() || g.space.numel() == 1);
            let Some(group) = group.as_ref().filter(fits) else { continue };
            for edge in group.nodes.iter().flat_map(|n| &self.edges.src[n.index()]) {
                let outside = self.of[edge.base.index()] != at;
                let large = self.graph.node(edge.base).numel() * 2 > group.space.numel();
                if outside && large && self.edges.class[edge.base.index()] != Class::Free {
                    let list = readers.entry(edge.base).or_default();
                    if list.last() != Some(&at) {
                        list.push(at);
                    }
                }
            }
        }
        let mut lists: Vec<_> = readers.into_iter().collect();
        lists.sort_by_key(|(base, _)| *base);
        for (_, list) in lists {
            for pair in 1..list.len() {
                for earlier in 0..pair {
                    let (a, b) = (list[earlier], list[pair]);
                    if self.groups[a].is_some() && self.groups[b].is_some() && self.try_merge(a, b) {
                        break;
                    }
                }
            }
        }
    }

    /// The output and log-sum-exp of one attention are one kernel, and so are its three gradients.
    fn attention_families(&mut self) {
        let mut families: FxHashMap<_, usize> = FxHashMap::default();
        for (id, node) in self.graph.iter() {
            let (spec, backward) = match &node.op {
                Op::Attention(spec) | Op::AttentionLse(spec) => (*spec, false),
                Op::AttentionGrad(spec, _) => (*spec, true),
                _ => continue,
            };
            let at = self.of[id.index()];
            let first = *families.entry((spec, backward, node.src.clone())).or_insert(at);
            if first != at && self.acyclic(first, at) {
                self.join(first, at);
            }
        }
    }

    /// Whether the merged group would not depend on itself through a third.
    fn acyclic(&self, a: usize, b: usize) -> bool {
        !self.depends_through_others(b, a) && !self.depends_through_others(a, b)
    }

    /// Whether `later` needs a third group that needs `earlier`, directly or not.
    fn depends_through_others(&self, later: usize, earlier: usize) -> bool {
        let before = |at: usize| {
            let nodes = self.group(at).nodes.iter();
            nodes.flat_map(|&n| depends(self.edges, n)).map(|n| self.of[n.index()])
        };
        let mut seen: FxHashSet<usize> = FxHashSet::default();
        let third = |at: &usize| *at != later && *at != earlier && *at != usize::MAX;
        let mut stack: Vec<usize> = before(later).filter(third).collect();
        while let Some(at) = stack.pop() {
            if !seen.insert(at) {
                continue;
            }
            for next in before(at) {
                if next == earlier {
                    return true;
                }
                if third(&next) && !seen.contains(&next) {
                    stack.push(next);
                }
            }
        }
        false
    }

    /// Merges `b` into `a` if one kernel can compute both.
    fn try_merge(&mut self, a: usize, b: usize) -> bool {
        self.merge(a, b, true)
    }

    fn merge(&mut self, a: usize, b: usize, check_cycles: bool) -> bool {
        let (into, from) = (self.group(a), self.group(b));
        if into.nodes.len() + from.nodes.len() > MAX_NODES {
            return false;
        }
        let space = match into.kind {
            Kind::MatMul => into.space.numel() == from.space.numel() && !from.space.has_reduced(),
            _ => true,
        };
        let space = match (space, into.kind) {
            (false, _) => None,
            (true, Kind::MatMul) => Some(into.space.clone()),
            (true, _) => into.space.merge(&from.space),
        };
        let Some(space) = space else { return false };
        let all_fit = |group: &Group| {
            group.nodes.iter().all(|&n| {
                self.role(&space, n).is_some()
                    && self.edges.src[n.index()].iter().enumerate().all(|(i, edge)| {
                        let home = self.of[edge.base.index()];
                        let inside = home == a || home == b;
                        self.fits(&space, n, i, edge, inside)
                    })
            })
        };
        // Members of `a` need a second look only where the space changed or they read members of `b`.
        let readers_fit = || {
            from.nodes.iter().all(|&n| {
                self.edges.users[n.index()].iter().filter(|u| self.of[u.index()] == a).all(|&u| {
                    let sources = self.edges.src[u.index()].iter().enumerate();
                    sources.filter(|(_, e)| e.base == n).all(|(i, e)| self.fits(&space, u, i, e, true))
                })
            })
        };
        let into_fits = if space == into.space { readers_fit() } else { all_fit(into) };
        if !into_fits || !all_fit(from) || check_cycles && !self.acyclic(a, b) {
            return false;
        }
        if into.kind == Kind::MatMul && self.epilogue_loads(a, b) > MAX_EPILOGUE_LOADS {
            return false;
        }
        if self.too_many_memories(a, b) || self.too_many_strangers(a, b) {
            return false;
        }
        self.join(a, b);
        if let Some(group) = &mut self.groups[a] {
            group.space = space;
        }
        true
    }

    /// Whether the merged group would read and write more memories than a kernel may.
    fn too_many_memories(&self, a: usize, b: usize) -> bool {
        let members = || self.group(a).nodes.iter().chain(&self.group(b).nodes);
        // A node has at most three sources and one result.
        if (self.group(a).nodes.len() + self.group(b).nodes.len()).saturating_mul(4) <= self.memories {
            return false;
        }
        let inside = |n: NodeId| self.of[n.index()] == a || self.of[n.index()] == b;
        let mut touched: FxHashSet<NodeId> = FxHashSet::default();
        for &n in members() {
            let sources = self.edges.src[n.index()].iter().map(|e| e.base);
            touched.extend(sources.filter(|&s| !inside(s) && self.edges.class[s.index()] != Class::Free));
            if self.is_output[n.index()] || self.edges.users[n.index()].iter().any(|&u| !inside(u)) {
                touched.insert(n);
            }
        }
        touched.len() > self.memories
    }

    /// Whether the merged group would compute many reductions that have only single numbers in common, such as the norms of
    /// all parameters and the number that scales them. A kernel would go through them one after another; by themselves they
    /// are the same program over other memories, which `batch` joins.
    fn too_many_strangers(&self, a: usize, b: usize) -> bool {
        let reductions = |at: usize| {
            self.group(at).nodes.iter().filter(|n| self.edges.class[n.index()] == Class::Reduce).count()
        };
        if reductions(a) == 0 || reductions(b) == 0 || reductions(a) + reductions(b) <= MAX_STRANGERS {
            return false;
        }
        let touched = |at: usize| -> FxHashSet<NodeId> {
            let nodes = self.group(at).nodes.iter();
            let all = nodes.flat_map(|&n| {
                std::iter::once(n).chain(self.edges.src[n.index()].iter().map(|edge| edge.base))
            });
            let several =
                |n: &NodeId| self.graph.node(*n).numel() > 1 && self.edges.class[n.index()] != Class::Free;
            all.filter(several).collect()
        };
        touched(a).is_disjoint(&touched(b))
    }

    fn role(&self, space: &Space, id: NodeId) -> Option<Role> {
        role_of(self.graph, self.edges, space, id)
    }

    fn fits(&self, space: &Space, id: NodeId, index: usize, edge: &Edge, inside: bool) -> bool {
        edge_fits(self.graph, self.edges, space, id, index, edge, inside)
    }

    /// How many full-size memories the epilogue of `a` would read with `b` in it. A value that can be computed
    /// again from one memory counts as that memory.
    fn epilogue_loads(&self, a: usize, b: usize) -> usize {
        let full = self.group(a).space.numel();
        let members = self.group(a).nodes.iter().skip(1).chain(&self.group(b).nodes);
        let mut memories: Vec<NodeId> = vec![];
        for edge in members.flat_map(|n| &self.edges.src[n.index()]) {
            let home = self.of[edge.base.index()];
            if home != a && home != b && self.graph.node(edge.base).numel() * 2 > full {
                let roots = &self.roots.of[edge.base.index()];
                let again = !self.roots.anchor[edge.base.index()] && roots.len() <= 1;
                memories.extend_from_slice(if again { roots } else { std::slice::from_ref(&edge.base) });
            }
        }
        memories.sort_unstable();
        memories.dedup();
        memories.len()
    }

    /// Makes `b` part of `a`.
    fn join(&mut self, a: usize, b: usize) {
        let Some(from) = self.groups[b].take() else { return };
        for n in &from.nodes {
            self.of[n.index()] = a;
        }
        let Some(into) = &mut self.groups[a] else { return };
        into.nodes.extend(from.nodes);
        into.nodes.sort_unstable();
    }
}

/// The nodes that must have been computed before this one.
pub(super) fn depends(edges: &Edges, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
    edges.src[id.index()].iter().flat_map(|e| std::iter::once(e.base).chain(e.after.iter().copied()))
}

/// Whether a node is computed for every point of a space or every kept point; `None` if it does not belong.
pub(super) fn role_of(graph: &Graph, edges: &Edges, space: &Space, id: NodeId) -> Option<Role> {
    let role = space.role(graph.node(id).numel())?;
    match edges.class[id.index()] {
        Class::Reduce => (role == Role::Kept).then_some(role),
        _ => Some(role),
    }
}

/// Whether source `index` of a node can be read in a space: from a value of the same group where it is
/// computed, otherwise from memory.
pub(super) fn edge_fits(
    graph: &Graph,
    edges: &Edges,
    space: &Space,
    id: NodeId,
    index: usize,
    edge: &Edge,
    inside: bool,
) -> bool {
    if edges.class[id.index()] == Class::MatMul {
        return !inside;
    }
    let role = match edges.class[id.index()] {
        Class::Reduce => Role::Element,
        _ => match role_of(graph, edges, space, id) {
            Some(role) => role,
            None => return false,
        },
    };
    let node = graph.node(id);
    match &node.op {
        Op::Gather(axis) if index == 0 => {
            return !inside && space.fit(&edge.gathered(*axis, &node.shape), role).is_some();
        }
        // A random number is drawn by its own linear index; its sources are scalars.
        Op::Random(_) => return space.fit(&View::contiguous(&node.shape), role).is_some(),
        _ => {}
    }
    let Some(view) = space.fit(&edge.view, role) else { return false };
    if !inside {
        return true;
    }
    let Some(from) = role_of(graph, edges, space, edge.base) else { return false };
    if edge.fence || (from == Role::Element && role == Role::Kept) {
        return false;
    }
    let own = space.own(from);
    view.offset == 0
        && view.mask.is_none()
        && (0..own.shape.len()).all(|i| own.shape[i] == 1 || view.strides[i] == own.strides[i])
}

/// Puts groups in an order in which every value is computed before it is used, close to the order in which the
/// nodes were recorded, and finds out which values of each group must be stored. Groups that nobody needs go.
fn order(graph: &Graph, edges: &Edges, mut groups: Vec<Group>) -> Result<Vec<Group>> {
    let mut home = vec![usize::MAX; graph.len()];
    for (at, group) in groups.iter().enumerate() {
        group.nodes.iter().for_each(|n| home[n.index()] = at);
    }
    let mut waiting = vec![0usize; groups.len()];
    let mut users: Vec<Vec<usize>> = vec![vec![]; groups.len()];
    for (at, group) in groups.iter().enumerate() {
        let mut before: Vec<usize> = group
            .nodes
            .iter()
            .chain(&group.clones)
            .flat_map(|&n| depends(edges, n))
            .filter(|&b| !group.computes(b))
            .map(|b| home[b.index()])
            .filter(|&b| b != usize::MAX)
            .collect();
        before.sort_unstable();
        before.dedup();
        waiting[at] = before.len();
        before.iter().for_each(|&b| users[b].push(at));
    }
    let last = |group: &Group| std::cmp::Reverse(group.nodes.last().copied());
    let mut ready: std::collections::BinaryHeap<_> =
        (0..groups.len()).filter(|&at| waiting[at] == 0).map(|at| (last(&groups[at]), at)).collect();
    let mut sequence = vec![];
    while let Some((_, at)) = ready.pop() {
        sequence.push(at);
        for &user in &users[at] {
            waiting[user] -= 1;
            if waiting[user] == 0 {
                ready.push((last(&groups[user]), user));
            }
        }
    }
    if sequence.len() != groups.len() {
        return Err(Error::Internal("schedule: kernels wait for each other in a circle".into()));
    }
    let mut wanted: FxHashSet<NodeId> = graph.outputs.iter().copied().collect();
    for &at in sequence.iter().rev() {
        let group = &mut groups[at];
        group.stored = group.nodes.iter().copied().filter(|n| wanted.contains(n)).collect();
        let mut stack = group.stored.clone();
        let mut live: FxHashSet<NodeId> = stack.iter().copied().collect();
        while let Some(n) = stack.pop() {
            for edge in &edges.src[n.index()] {
                if !group.computes(edge.base) {
                    wanted.insert(edge.base);
                } else if live.insert(edge.base) {
                    stack.push(edge.base);
                }
            }
        }
        group.nodes.retain(|n| live.contains(n));
        group.clones.retain(|n| live.contains(n));
    }
    let mut groups: Vec<Option<Group>> = groups.into_iter().map(Some).collect();
    Ok(sequence.iter().filter_map(|&at| groups[at].take()).filter(|g| !g.stored.is_empty()).collect())
}
