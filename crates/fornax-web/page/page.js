// The page of the painter: draws a picture, lets Fornax learn it and shows how far that has come.
import init, { Painter } from "./fornax_web.js";

// The side of the picture in pixels; software GPUs are tested with a small one.
const asked = new URLSearchParams(location.search);
const SIDE = Number(asked.get("side") ?? 192);
const STEPS = 5; // between two pictures
const get = (id) => document.getElementById(id);
const given = get("given").getContext("2d", { willReadFrequently: true });
const learnt = get("learnt").getContext("2d");

let losses = [], step = 0, paused = false, run = 0;
// What tests look at.
window.fornax = { losses: () => losses, step: () => step };

/** A picture with edges, curves and a gradient. */
function draw() {
  for (const canvas of [given.canvas, learnt.canvas]) canvas.width = canvas.height = SIDE;
  given.scale(SIDE / 192, SIDE / 192); // The picture is drawn on 192 units.
  const sky = given.createLinearGradient(0, 0, 0, 192);
  sky.addColorStop(0, "#1e1b4b"); sky.addColorStop(0.55, "#be185d"); sky.addColorStop(1, "#fbbf24");
  given.fillStyle = sky; given.fillRect(0, 0, 192, 192);
  given.fillStyle = "#fef3c7"; given.beginPath(); given.arc(132, 74, 26, 0, 7); given.fill();
  for (const [colour, base, height, wave] of [["#312e81", 128, 26, 0.05], ["#1e293b", 150, 16, 0.09], ["#0f172a", 172, 10, 0.16]]) {
    given.fillStyle = colour; given.beginPath(); given.moveTo(0, 192);
    for (let x = 0; x <= 192; x++) given.lineTo(x, base - height * Math.abs(Math.sin(x * wave + base)));
    given.lineTo(192, 192); given.fill();
  }
  given.fillStyle = "#fef3c7"; given.font = "bold 34px serif"; given.fillText("Fornax", 14, 48);
}

function chart() {
  const canvas = get("loss"), c = canvas.getContext("2d"), colour = (id) => getComputedStyle(get(id)).color;
  c.clearRect(0, 0, canvas.width, canvas.height);
  if (losses.length < 2) return;
  const logs = losses.map((l) => Math.log10(Math.max(l, 1e-7)));
  const low = Math.min(...logs) - 0.1, high = Math.max(...logs) + 0.1;
  const y = (l) => canvas.height - ((l - low) / (high - low)) * canvas.height;
  c.font = "22px system-ui"; c.fillStyle = c.strokeStyle = colour("note");
  for (let power = Math.ceil(low); power <= high; power++) {
    c.globalAlpha = 0.4; c.beginPath(); c.moveTo(0, y(power)); c.lineTo(canvas.width, y(power)); c.stroke();
    c.globalAlpha = 1; c.fillText(`1e${power}`, 8, y(power) - 6);
  }
  c.strokeStyle = colour("trouble"); c.lineWidth = 3; c.beginPath();
  logs.forEach((l, i) => c.lineTo((i / (logs.length - 1)) * canvas.width, y(l)));
  c.stroke();
}

/** Trains until somebody begins again. */
async function train() {
  const own = ++run;
  losses = []; step = 0; get("trouble").textContent = "";
  try {
    const pixels = given.getImageData(0, 0, SIDE, SIDE).data;
    const painter = await Painter.open(new Uint8Array(pixels.buffer), SIDE, SIDE, asked.get("device") ?? "");
    get("device").textContent = painter.device();
    while (own === run) {
      if (paused || document.hidden) { await new Promise((next) => setTimeout(next, 100)); continue; }
      const begun = performance.now();
      painter.counts();
      const loss = await painter.steps(STEPS);
      const [launches, submits, fresh, compiled] = painter.counts();
      step += STEPS;
      const image = new Uint8ClampedArray((await painter.paint()).buffer);
      learnt.putImageData(new ImageData(image, SIDE, SIDE), 0, 0);
      if (loss !== undefined) { losses.push(loss); get("value").textContent = loss.toExponential(2); }
      window.fornax.last = { launches: launches / STEPS, submits: submits / STEPS, fresh, compiled };
      get("step").textContent = step;
      get("counts").textContent = `${launches / STEPS}, ${submits / STEPS}`;
      get("speed").textContent = ((STEPS * 1000) / (performance.now() - begun)).toFixed(1);
      chart();
      await new Promise(requestAnimationFrame);
    }
    painter.free();
  } catch (error) {
    get("trouble").textContent = `${error.message ?? error} `;
    if (!navigator.gpu) get("trouble").textContent += "This browser has no WebGPU; Chrome, Edge, Safari 26 or Firefox 141 do.";
  }
}

get("pause").onclick = () => { paused = !paused; get("pause").textContent = paused ? "Go on" : "Pause"; };
get("again").onclick = () => train();
get("file").onchange = async (event) => {
  const [file] = event.target.files;
  if (!file) return;
  const image = await createImageBitmap(file);
  const side = Math.min(image.width, image.height);
  given.drawImage(image, (image.width - side) / 2, (image.height - side) / 2, side, side, 0, 0, 192, 192);
  train();
};
draw();
await init();
train();
