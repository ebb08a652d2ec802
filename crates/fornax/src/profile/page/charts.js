// Charts: the roofline, the timeline and the memory below it. They draw what they are given and know no tables.

const byId = (id) => document.getElementById(id);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();

/** An element with attributes (functions become listeners) and children. */
function el(tag, attributes = {}, ...children) {
  const svg = ["svg", "g", "line", "path", "text", "polyline"].includes(tag);
  const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag) : document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(key, value);
    else if (value !== undefined && value !== null) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

// Amounts: three digits and a unit; what is not known is a dash.
function scaled(value, units) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "-";
  if (value === 0) return "0 " + units[units.length - 1][1];
  const [size, unit] = units.find(([size]) => Math.abs(value) >= size * 0.9995) ?? units[units.length - 1];
  const v = value / size;
  return (Math.abs(v) >= 99.95 ? v.toFixed(0) : Math.abs(v) >= 9.995 ? v.toFixed(1) : v.toFixed(2)) + " " + unit;
}
const range = (a, b) => { const [x, y] = [time(a), time(b)]; return (x.split(" ")[1] === y.split(" ")[1] ? x.split(" ")[0] : x) + " .. " + y; };
const plural = (n, what) => `${n} ${what}${n === 1 ? "" : what.endsWith("ch") ? "es" : "s"}`;
const time = (v) => scaled(v, [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]]);
const size = (v) => (v !== null && v < 1024 ? v + " B" : scaled(v, [[2 ** 40, "TiB"], [2 ** 30, "GiB"], [2 ** 20, "MiB"], [1024, "KiB"]]));
const bandwidth = (v) => scaled(v, [[1e12, "TB/s"], [1e9, "GB/s"], [1e6, "MB/s"], [1e3, "kB/s"]]);
const rate = (v) => scaled(v, [[1e12, "TFLOP/s"], [1e9, "GFLOP/s"], [1e6, "MFLOP/s"], [1e3, "kFLOP/s"]]);
const percent = (v) => (v === null || v === undefined || !Number.isFinite(v) ? "-" : (v * 100).toFixed(Math.abs(v) < 0.1 ? 1 : 0) + "%");

// One tooltip for all charts.
function showTip(x, y, title, lines) {
  const tip = byId("tip");
  tip.replaceChildren(el("b", {}, title), ...lines.map((line) => el("div", {}, line)));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = Math.max(8, Math.min(x + 14, innerWidth - width - 8)) + "px";
  tip.style.top = (y + 18 + height > innerHeight ? Math.max(8, y - height - 12) : y + 18) + "px";
}
const hideTip = () => (byId("tip").hidden = true);

/** What a tooltip says of a kernel. */
function kernelLines(k) {
  return [
    `${k.count} × ${time(k.seconds / k.count)} = ${time(k.seconds)}` + (k.spread ? ` (${range(...k.spread)})` : ""),
    `${bandwidth(k.bandwidth)}, ${rate(k.rate)}`,
    k.bound ? `${k.bound}-bound, ${percent(k.of_roof)} of roofline` : "bound and roofline: - (peaks were not measured)",
  ];
}

const SHAPES = {
  memory: (r) => `M${-r},0A${r},${r} 0 1 0 ${r},0A${r},${r} 0 1 0 ${-r},0Z`,
  compute: (r) => `M0,${-r * 1.25}L${r * 1.25},0L0,${r * 1.25}L${-r * 1.25},0Z`,
  launch: (r) => `M0,${-r * 1.2}L${r * 1.15},${r * 0.85}L${-r * 1.15},${r * 0.85}Z`,
};

/** Operations a second over operations a byte, both logarithmic: a point a kernel under the measured ceilings. */
function roofline(box, profile, choose) {
  const points = profile.kernels
    .map((k, index) => ({ k, index, x: k.ops / (k.bytes_read + k.bytes_written), y: k.rate }))
    .filter((p) => p.x > 0 && p.y > 0 && Number.isFinite(p.x));
  const roof = profile.roof;
  const flats = roof ? [["f32", roof.f32], ["f16", roof.f16], ["cooperative f16", roof.cooperative]].filter(([, v]) => v) : [];
  const memory = roof ? Math.max(roof.copy, roof.read) : null;
  if (!points.length) return void box.replaceChildren(el("p", { class: "note" }, "- (no kernel with operations was timed)"));
  const width = Math.max(300, box.clientWidth), height = Math.min(460, Math.max(300, width * 0.5));
  const left = 58, right = 14, top = 14, bottom = 42;
  const xs = points.map((p) => p.x).concat(flats.map(([, v]) => (v / memory) * 3));
  const ys = points.map((p) => p.y).concat(flats.map(([, v]) => v * 1.6));
  const around = (v) => [Math.log10(Math.min(...v)) - 0.35, Math.log10(Math.max(...v)) + 0.3];
  const [x0, x1] = around(xs), [y0, y1] = around(ys);
  const px = (x) => left + ((Math.log10(x) - x0) / (x1 - x0)) * (width - left - right);
  const py = (y) => height - bottom - ((Math.log10(y) - y0) / (y1 - y0)) * (height - top - bottom);
  const svg = el("svg", { viewBox: `0 0 ${width} ${height}`, height, role: "img", "aria-label": "Roofline" });
  for (let e = Math.ceil(x0); e <= x1; e++) {
    svg.append(el("line", { class: "grid", x1: px(10 ** e), x2: px(10 ** e), y1: top, y2: height - bottom }));
    svg.append(el("text", { x: px(10 ** e), y: height - bottom + 17, "text-anchor": "middle" }, e < 0 ? (10 ** e).toFixed(-e) : String(10 ** e)));
  }
  for (let e = Math.ceil(y0); e <= y1; e++) {
    const [value, unit] = rate(10 ** e).split(" ");
    svg.append(el("line", { class: "grid", x1: left, x2: width - right, y1: py(10 ** e), y2: py(10 ** e) }));
    svg.append(el("text", { x: left - 6, y: py(10 ** e) + 4, "text-anchor": "end" }, parseFloat(value) + " " + (unit ?? "").replace("FLOP/s", "")));
  }
  svg.append(el("text", { x: (left + width - right) / 2, y: height - 6, "text-anchor": "middle" }, "operations a byte"));
  svg.append(el("text", { x: 12, y: (top + height - bottom) / 2, "text-anchor": "middle", transform: `rotate(-90 12 ${(top + height - bottom) / 2})` }, "operations a second"));
  if (roof) {
    const highest = Math.max(...flats.map(([, v]) => v));
    const slope = (name, speed, dashed) => {
      const from = Math.max(10 ** x0, 10 ** y0 / speed), to = highest / speed;
      if (from >= to) return;
      svg.append(el("line", { class: "roof-line" + (dashed ? " dashed" : ""), x1: px(from), y1: py(from * speed), x2: px(to), y2: py(to * speed) }));
      if (dashed) return;
      const at = [px(from) + 22, py(from * speed)], turn = (Math.atan2(py(to * speed) - py(from * speed), px(to) - px(from)) * 180) / Math.PI;
      svg.append(el("text", { class: "roof", x: at[0], y: at[1], transform: `rotate(${turn} ${px(from)} ${py(from * speed)}) translate(0 -6)` }, `${name} ${bandwidth(speed)}`));
    };
    slope("memory", memory, false);
    slope("the slower of copying and reading", Math.min(roof.copy, roof.read), true);
    let above = Infinity;
    for (const [name, value] of flats.sort((a, b) => b[1] - a[1])) {
      const y = py(value), crowded = above !== Infinity && y - above < 16;
      svg.append(el("line", { class: "roof-line", x1: px(value / memory), x2: width - right, y1: y, y2: y }));
      const ridge = px(value / memory);
      svg.append(el("text", { class: "roof", x: ridge + (crowded ? 22 : 4), y: crowded ? y + 15 : y - 6 }, `${name} ${rate(value)}`));
      above = crowded ? y + 21 : y;
    }
  }
  const most = Math.max(...points.map((p) => p.k.seconds));
  for (const p of points.sort((a, b) => b.k.seconds - a.k.seconds)) {
    const radius = 4 + 10 * Math.sqrt(p.k.seconds / most), shape = p.k.bound ?? "memory";
    const tip = (e) => {
      const at = e.clientX === undefined ? e.target.getBoundingClientRect() : { x: e.clientX, y: e.clientY };
      showTip(at.x, at.y, p.k.label, kernelLines(p.k).concat(`${p.x.toPrecision(3)} operations a byte`));
    };
    svg.append(el("path", {
      class: "point", "data-kernel": p.index, d: SHAPES[shape](radius), transform: `translate(${px(p.x)} ${py(p.y)})`, fill: `var(--${shape})`,
      tabindex: 0, "aria-label": p.k.label, mousemove: tip, focus: tip, mouseleave: hideTip, blur: hideTip, click: () => choose(p.index),
    }));
  }
  const legend = ["memory", "compute", "launch"].map((bound) => el("li", {}, el("i", { style: `background:var(--${bound})` }), bound + "-bound"));
  box.replaceChildren(svg, el("ul", { class: "legend" }, ...legend));
}

/** Canvases that share one stretch of time: dragging over one zooms all. */
class Timeline {
  constructor(profile) {
    this.profile = profile;
    const ends = profile.timeline.launches.map((l) => l.end).concat(profile.timeline.length, 1e-9);
    this.full = [Math.min(0, ...profile.timeline.launches.map((l) => l.begin)), Math.max(...ends)];
    this.view = [...this.full];
    this.charts = [];
  }

  add(canvas, height, draw, hit) {
    const chart = { canvas, height, draw, hit, drag: null };
    this.charts.push(chart);
    const at = (e) => e.clientX - canvas.getBoundingClientRect().left;
    canvas.addEventListener("pointerdown", (e) => { chart.drag = [at(e), at(e)]; canvas.setPointerCapture(e.pointerId); });
    canvas.addEventListener("pointermove", (e) => {
      if (chart.drag) { chart.drag[1] = at(e); this.draw(); return; }
      const found = hit(at(e), e.clientY - canvas.getBoundingClientRect().top);
      found ? showTip(e.clientX, e.clientY, found[0], found[1]) : hideTip();
    });
    canvas.addEventListener("pointerup", () => {
      const [a, b] = chart.drag ?? [0, 0];
      chart.drag = null;
      if (Math.abs(a - b) > 4) this.zoom(this.time(Math.min(a, b)), this.time(Math.max(a, b)));
      else this.draw();
    });
    canvas.addEventListener("pointercancel", () => { chart.drag = null; this.draw(); });
    canvas.addEventListener("pointerleave", hideTip);
    canvas.addEventListener("dblclick", () => this.zoom(...this.full));
    canvas.addEventListener("wheel", (e) => {
      if (!e.ctrlKey && !e.metaKey) return;
      e.preventDefault();
      this.scale(Math.exp(e.deltaY * 0.002), this.time(at(e)));
    }, { passive: false });
    canvas.addEventListener("keydown", (e) => {
      const step = { "+": () => this.scale(0.5), "=": () => this.scale(0.5), "-": () => this.scale(2), ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25), 0: () => this.zoom(...this.full) }[e.key];
      if (step) { e.preventDefault(); step(); }
    });
  }

  width() { return this.charts[0].canvas.clientWidth; }
  x(t) { return ((t - this.view[0]) / (this.view[1] - this.view[0])) * this.width(); }
  time(x) { return this.view[0] + (x / this.width()) * (this.view[1] - this.view[0]); }
  scale(factor, around = (this.view[0] + this.view[1]) / 2) { this.zoom(around - (around - this.view[0]) * factor, around + (this.view[1] - around) * factor); }
  move(share) { const by = (this.view[1] - this.view[0]) * share; this.zoom(this.view[0] + by, this.view[1] + by); }

  zoom(begin, end) {
    const length = Math.min(Math.max(end - begin, 1e-9), this.full[1] - this.full[0]);
    begin = Math.max(this.full[0], Math.min(begin, this.full[1] - length));
    this.view = [begin, begin + length];
    this.draw();
  }

  draw() {
    for (const { canvas, height, draw, drag } of this.charts) {
      const ratio = devicePixelRatio || 1, width = canvas.clientWidth;
      canvas.style.height = height + "px";
      canvas.width = width * ratio;
      canvas.height = height * ratio;
      const g = canvas.getContext("2d");
      g.scale(ratio, ratio);
      g.font = "12px system-ui, sans-serif";
      g.textBaseline = "middle";
      this.grid(g, width, height);
      draw(g, width, height);
      if (drag) { g.globalAlpha = 0.25; g.fillStyle = css("memory"); g.fillRect(Math.min(...drag), 0, Math.abs(drag[1] - drag[0]), height); g.globalAlpha = 1; }
    }
  }

  /** Lines at round times, labelled along the bottom. */
  grid(g, width, height) {
    const rough = ((this.view[1] - this.view[0]) / width) * 110, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((m) => m * power).find((s) => s >= rough);
    g.strokeStyle = css("grid");
    g.fillStyle = css("muted");
    for (let i = Math.ceil(this.view[0] / step); i * step <= this.view[1]; i++) {
      const x = this.x(i * step);
      g.beginPath(); g.moveTo(x, 0); g.lineTo(x, height - 18); g.stroke();
      g.fillText(time(i * step), Math.max(0, Math.min(x + 3, width - 52)), height - 8);
    }
  }

  /** A box from one time to another with its text, if there is room. */
  box(g, begin, end, y, height, colour, text, ink) {
    const a = Math.max(-2, this.x(begin)), b = Math.min(this.width() + 2, this.x(end));
    if (b < 0 || a > this.width()) return;
    g.fillStyle = colour;
    g.fillRect(a, y, Math.max(b - a - (b - a > 3 ? 0.5 : 0), 0.6), height);
    if (b - a > 34 && text) {
      g.save(); g.beginPath(); g.rect(a, y, b - a - 4, height); g.clip();
      g.fillStyle = ink;
      g.fillText(text, Math.max(a, 0) + 4, y + height / 2 + 0.5);
      g.restore();
    }
  }
}

const ROW = 22;

/** The host's phases, nested, above the device's launches. */
function lanes(timeline) {
  const { profile } = timeline, { spans, launches, length } = profile.timeline;
  const depth = 1 + Math.max(0, ...spans.map((s) => s.depth + 1)), device = 18 + depth * ROW + 26, height = device + ROW * 2 + 30;
  const found = (list, t, room) => { for (let i = list.length - 1; i >= 0; i--) if (list[i].begin - room <= t && t <= list[i].end + room) return list[i]; };
  const draw = (g) => {
    g.fillStyle = css("muted");
    g.fillText("Host", 2, 9);
    g.fillText("Device: forward, backward below", 2, device - 11);
    const colours = Object.fromEntries(["call", "on", "on-wait", "ink", "forward", "backward", ...spans.map((s) => s.phase)].map((c) => [c, css(c)]));
    timeline.box(g, 0, length, 18, ROW - 2, colours.call, "graph: " + profile.name, colours.ink);
    for (const s of spans) timeline.box(g, s.begin, s.end, 18 + (s.depth + 1) * ROW, ROW - 2, colours[s.phase], s.phase.replace("_", "-"), s.phase === "wait" ? colours["on-wait"] : colours.on);
    for (const l of launches) timeline.box(g, l.begin, l.end, device + (l.backward ? ROW : 0), ROW - 2, l.backward ? colours.backward : colours.forward, profile.kernels[l.kernel].label, colours.on);
  };
  const hit = (x, y) => {
    const t = timeline.time(x), room = timeline.time(2) - timeline.time(0), row = Math.floor((y - 18) / ROW);
    if (y >= device && y < device + 2 * ROW) {
      const l = found(launches.filter((l) => l.backward === y >= device + ROW), t, room);
      if (!l) return null;
      const k = profile.kernels[l.kernel], module = profile.modules[l.module].path || "(no module)";
      return [k.label, [`${module}, ${l.backward ? "backward" : "forward"}`, `${time(l.end - l.begin)} at ${time(l.begin)}`, ...kernelLines(k)]];
    }
    const s = row > 0 && row < depth ? found(spans.filter((s) => s.depth === row - 1), t, room) : null;
    if (s) return [s.phase.replace("_", "-"), [`${time(s.end - s.begin)} at ${time(s.begin)}`]];
    return row === 0 ? ["graph", [`${profile.name}: ${time(length)}; what no phase below covers is recording and the caller's own code`]] : null;
  };
  timeline.add(byId("timeline"), height, draw, hit);
}

/** Bytes in use, a step for every allocation and release. */
function memoryLane(timeline) {
  const { over_time: points, peak, peak_at } = timeline.profile.memory;
  const height = 150, y = (bytes) => height - 22 - (bytes / Math.max(peak, 1)) * (height - 50);
  const draw = (g, width) => {
    g.beginPath();
    g.moveTo(timeline.x(points[0][0]), y(0));
    points.forEach(([t, bytes], i) => { g.lineTo(timeline.x(t), y(i ? points[i - 1][1] : bytes)); g.lineTo(timeline.x(t), y(bytes)); });
    const last = Math.max(width, timeline.x(timeline.full[1]));
    g.lineTo(last, y(points[points.length - 1][1])); g.lineTo(last, y(0)); g.closePath();
    g.fillStyle = css("memory"); g.globalAlpha = 0.25; g.fill(); g.globalAlpha = 1;
    g.strokeStyle = css("memory"); g.stroke();
    g.strokeStyle = css("muted"); g.setLineDash([4, 4]);
    g.beginPath(); g.moveTo(0, y(peak)); g.lineTo(width, y(peak)); g.stroke(); g.setLineDash([]);
    g.fillStyle = css("ink");
    g.fillText(`peak ${size(peak)} at ${time(peak_at)}`, 4, y(peak) - 10);
  };
  const hit = (x) => {
    const t = timeline.time(x);
    let bytes = points[0][1];
    for (const [at, live] of points) if (at <= t) bytes = live;
    return [size(bytes) + " in use", [`at ${time(t)}`, `${percent(bytes / Math.max(peak, 1))} of the peak`]];
  };
  timeline.add(byId("memory"), height, draw, hit);
}
