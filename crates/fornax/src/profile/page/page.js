// The page: figures, advice and tables around the charts.

const profile = JSON.parse(byId("data").textContent);
const seconds = Math.max(profile.wall.median, profile.busy);
const CLOCKS = {
  host: "the host's clock", timestamps: "timestamps of the GPU", passes: "timestamps of the GPU between passes",
  submits: "the host's clock around submits (the adapter has no timestamps)",
};
const NAMES = { lookup: "plan lookup", read_back: "read-back" };

/** A table with a button in every head that sorts by its column: [title, value of a row, text or nodes of a row]. */
function table(id, columns, rows, { sorted = null, kept = () => true, row: decorate = () => {} } = {}) {
  const node = byId(id);
  let [column, down] = sorted ?? [null, true];
  const render = () => {
    const shown = rows.filter(kept);
    if (column !== null) {
      const value = columns[column][1], text = rows.some((r) => typeof value(r) === "string");
      // What is not known comes last, whichever way.
      const missing = (v) => v === null || v === undefined;
      shown.sort((a, b) => {
        const [x, y] = [value(a), value(b)];
        if (missing(x) || missing(y)) return missing(x) - missing(y);
        return (text ? x.localeCompare(y) : x - y) * (down ? -1 : 1);
      });
    }
    const heads = columns.map(([title], i) =>
      el("th", { scope: "col", "aria-sort": i === column ? (down ? "descending" : "ascending") : "none" },
        el("button", { type: "button", click: () => { down = i === column ? !down : typeof columns[i][1](rows[0] ?? {}) !== "string"; column = i; render(); } }, title)));
    const body = shown.map((r) => {
      const tr = el("tr", {}, ...columns.map(([, , show]) => el("td", {}, ...[show(r)].flat())));
      decorate(tr, r);
      return tr;
    });
    node.replaceChildren(el("thead", {}, el("tr", {}, ...heads)), el("tbody", {}, ...body));
  };
  render();
  return render;
}

function figures() {
  const { wall, counts, memory, overhead, timing } = profile;
  const spread = profile.undisturbed ? `${range(wall.low, wall.high)}, ${plural(wall.calls, "call")}` : "while every launch was timed";
  byId("name").textContent = profile.name;
  const signed = (v) => (v >= 0 ? "+" : "") + percent(v);
  const stamps = `${plural(timing.timestamps, "timestamp")} of ${time(timing.timestamp)}`;
  const cost = !overhead ? `${stamps}, about ${time(timing.timestamps * timing.timestamp)}, which is taken off`
    : `at most ${stamps} in each changed the kernels' time by ${signed(overhead.median)} (${signed(overhead.low)} .. ${signed(overhead.high)})`;
  byId("where").textContent = `on ${profile.device}, launches timed by ${CLOCKS[profile.clock]}, all of them in ${plural(timing.calls, "call")}: ${cost}`;
  const tiles = [
    ["Wall", time(wall.median), spread],
    ["Kernels", time(profile.busy), `${percent(profile.busy / wall.median)} of the wall; ${time(profile.remainder)} between launches`],
    ["Launches", counts.launches, `${plural(counts.evaluations, "evaluation")}, ${counts.submits === null ? "- submits" : plural(counts.submits, "submit")}`],
    ["Plans built", counts.plans_built, `${counts.plans_reused} reused, ${plural(counts.kernels_compiled, "kernel")} compiled`],
    ["Peak memory", size(memory.peak), `${size(memory.before)} before the call`],
    ["Fresh allocations", counts.fresh, `${size(counts.fresh_bytes)}; ${counts.reused} reused`],
  ];
  byId("tiles").append(...tiles.map(([label, value, more]) => el("div", { class: "tile" }, el("span", { class: "label" }, label), el("b", {}, String(value)), el("span", {}, more))));
}

function advice() {
  const list = byId("advice"), most = profile.advice[0]?.saves ?? 1;
  if (!profile.advice.length) list.append(el("li", { class: "none" }, profile.roof ? "Nothing that would save half a per cent was found." : "- (peaks were not measured)"));
  for (const a of profile.advice) {
    const show = a.kernels.length ? [" ", el("button", { type: "button", class: "link", click: () => choose(a.kernels[0], true) }, "show")] : [];
    list.append(el("li", {}, el("span", { class: "saves" }, `up to ${time(a.saves)} (${percent(a.share)})`), "  ", el("span", { class: "what" }, a.what), ...show,
      el("div", { class: "bar", style: `width:${(a.saves / most) * 100}%` }), el("p", {}, a.why.replace(/(\d) ([a-zA-Zµ]+(\/s)?)/g, (all, digit, unit) => (/^([nµm]?s|.?i?B|[TGMk]?(B|FLOP)\/s)$/.test(unit) ? digit + "\u00a0" + unit : all)))));
  }
}

function phases() {
  const sum = profile.phases.reduce((s, p) => s + p.seconds, 0);
  byId("host-note").textContent = "What the calling thread does during one call" + (profile.undisturbed ? " that nobody times." : ", while every launch is timed.") + " Graph is recording, and the caller's own code; wait is waiting for kernels, or on the CPU device running them.";
  const name = (p) => NAMES[p.phase] ?? p.phase;
  const bar = el("div", { class: "stack" });
  for (const p of profile.phases) {
    const share = p.seconds / sum, part = el("div", { class: (share < 0.04 ? "thin " : "") + p.phase, style: `width:${share * 100}%;background:var(--${p.phase})` }, share > 0.07 ? name(p) : "");
    part.addEventListener("mousemove", (e) => showTip(e.clientX, e.clientY, name(p), [`${time(p.seconds)}, ${percent(share)}`, `${p.count} times` + (p.bytes ? `, ${size(p.bytes)}` : "")]));
    part.addEventListener("mouseleave", hideTip);
    bar.append(part);
  }
  const legend = profile.phases.map((p) => el("li", {}, el("i", { style: `background:var(--${p.phase})` }), `${name(p)} ${time(p.seconds)}`));
  byId("phases").append(bar, el("ul", { class: "legend" }, ...legend));
}

let chosen = null;
/** Marks a kernel in the table and on the roofline. */
function choose(index, scroll = false) {
  chosen = index;
  byId("filter").value = "";
  drawKernels();
  for (const point of document.querySelectorAll(".point")) point.classList.toggle("chosen", Number(point.dataset.kernel) === chosen);
  if (scroll) document.querySelector("#kernels tr.chosen")?.scrollIntoView({ block: "center" });
}

function kernelTable() {
  const meter = (k) => (k.of_roof === null ? "-" : [percent(k.of_roof), el("span", { class: "meter " + k.bound }, el("i", { style: `width:${Math.min(100, k.of_roof * 100)}%` }))]);
  const columns = [
    ["kernel", (k) => k.label, (k) => k.label],
    ["count", (k) => k.count, (k) => String(k.count)],
    ["total", (k) => k.seconds, (k) => time(k.seconds)],
    ["share", (k) => k.seconds, (k) => percent(k.seconds / profile.busy)],
    ["mean", (k) => k.seconds / k.count, (k) => time(k.seconds / k.count)],
    ["spread", (k) => (k.spread ? k.spread[1] - k.spread[0] : null), (k) => (k.spread ? range(...k.spread) : "-")],
    ["bytes/s", (k) => k.bandwidth, (k) => bandwidth(k.bandwidth)],
    ["ops/s", (k) => k.rate, (k) => rate(k.rate)],
    ["bound", (k) => k.bound ?? "", (k) => (k.bound ? el("span", { class: k.bound }, k.bound) : "-")],
    ["of roofline", (k) => k.of_roof, meter],
  ];
  const kept = (k) => k.label.toLowerCase().includes(byId("filter").value.toLowerCase());
  const row = (tr, k) => {
    tr.firstChild.title = k.label;
    tr.classList.toggle("chosen", profile.kernels[chosen] === k);
  };
  return table("kernels", columns, profile.kernels, { sorted: [2, true], kept, row });
}

function moduleTable() {
  const both = (m) => m.forward.seconds + m.backward.seconds;
  const part = (p) => (p.launches ? time(p.seconds) : "");
  const deepest = Math.max(0, ...profile.modules.map((m) => m.depth)), levels = byId("levels");
  for (let d = 0; d <= deepest; d++) levels.append(el("option", { value: d }, String(d + 1)));
  levels.value = String(Math.min(1, deepest));
  const columns = [
    ["module", (m) => m.path, (m) => el("span", { style: `padding-left:${m.depth * 16}px` }, m.path || "(no module)")],
    ["launches forward", (m) => m.forward.launches, (m) => String(m.forward.launches)],
    ["forward", (m) => m.forward.seconds, (m) => part(m.forward)],
    ["launches backward", (m) => m.backward.launches, (m) => String(m.backward.launches)],
    ["backward", (m) => m.backward.seconds, (m) => part(m.backward)],
    ["both", both, (m) => time(both(m))],
    ["share", both, (m) => percent(both(m) / profile.busy)],
  ];
  const render = table("modules", columns, profile.modules, { kept: (m) => m.depth <= Number(levels.value) });
  levels.addEventListener("change", render);
}

function aliveTable() {
  const { alive, others, peak } = profile.memory;
  byId("alive-note").textContent = alive.length ? `The largest of ${size(peak)}; ${size(others)} more are in use by others, or by what no plan of this call reads.` : "- (nothing was in use that a plan of this call reads)";
  table("alive", [
    ["what", (a) => a.what, (a) => a.what],
    ["shape", (a) => a.shape.reduce((n, d) => n * d, 1), (a) => "[" + a.shape.join(", ") + "] " + a.dtype],
    ["module", (a) => a.module, (a) => a.module || "-"],
    ["bytes", (a) => a.bytes, (a) => size(a.bytes)],
    ["of the peak", (a) => a.bytes, (a) => percent(a.bytes / peak)],
  ], alive, { sorted: [3, true] });
}

figures();
advice();
phases();
const drawKernels = kernelTable();
byId("filter").addEventListener("input", drawKernels);
moduleTable();
aliveTable();
byId("roof-note").textContent = profile.roof
  ? `A point a kernel, its area the time of all its launches, under the peaks measured on this device; a launch takes ${time(profile.roof.launch)}. Dashed: the slower of copying and reading. Kernels without operations, which only copy, have no place here.`
  : "The device's peaks were not measured, so there are no ceilings.";
byId("timeline-note").textContent = "One call; launches lie where they were in the calls that timed them. Drag over a stretch to zoom into it, double-click for the whole; Ctrl and the wheel, or + and - when focused, zoom too."
  + (profile.timeline.cut ? " Only the first 20000 launches and phases are shown." : "");
const timeline = new Timeline(profile);
lanes(timeline);
memoryLane(timeline);
const zooms = [["+", "Zoom in", () => timeline.scale(0.5)], ["−", "Zoom out", () => timeline.scale(2)], ["←", "Earlier", () => timeline.move(-0.5)], ["→", "Later", () => timeline.move(0.5)], ["whole", "The whole call", () => timeline.zoom(...timeline.full)]];
byId("zoom").append(...zooms.map(([text, title, click]) => el("button", { type: "button", title, "aria-label": title, click }, text)));
const drawCharts = () => { roofline(byId("roofline"), profile, choose); timeline.draw(); if (chosen !== null) choose(chosen); };
drawCharts();
let drawnAt = innerWidth;
addEventListener("resize", () => { if (innerWidth !== drawnAt) { drawnAt = innerWidth; drawCharts(); } });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawCharts);
