// Runs in a copy of the page: acts like a reader and records what is shown.
const said = {};
const figure = (name) => document.querySelector(`figure[data-name="${name}"]`);
const chart = (name) => figure(name).querySelector(".chart");
const panel = (name) => figure(name).querySelector(".panel, .space");
const readout = (name) => {
  const box = figure(name).querySelector(".readout");
  return box.hidden ? "" : [...box.children].map((line) => line.textContent).join("; ");
};
// A point in a chart, as a share of the area of its first panel.
const at = (name, across, down) => {
  const [left, top, width, height] = (panel(name).dataset.area || "60 60 200 200").split(" ").map(Number);
  const point = new DOMPoint(left + across * width, top + down * height).matrixTransform(chart(name).getScreenCTM());
  return { clientX: point.x, clientY: point.y };
};
const pointer = (name, kind, place, more = {}) => chart(name).dispatchEvent(
  new PointerEvent(kind, { bubbles: true, cancelable: true, pointerId: 1, pointerType: "mouse", ...place, ...more }));
const key = (name, pressed) => chart(name).dispatchEvent(new KeyboardEvent("keydown", { key: pressed, bubbles: true, cancelable: true }));
const drawn = (name) => [...figure(name).querySelectorAll(".marks path, .solid path")].map((path) => path.getAttribute("d")).join("|");
const numbers = (name) => [...panel(name).querySelectorAll(".axes text")].map((text) => text.textContent).join(" ");

said.figures = document.querySelectorAll("figure .chart").length;
said.width = innerWidth;
said.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
said.requests = performance.getEntriesByType("resource").map((entry) => entry.name).join(" ");
said.images = document.images.length;
said.broken = String(window.broken);
const last = [...document.querySelectorAll("figure")].at(-1);
said.heading = document.querySelector("h3").textContent;
said.caption = last.querySelector("figcaption").textContent;
said.legend = last.querySelector(".legend li").textContent;
said.axis = last.querySelector(".panel").dataset.xLabel;
said.details = document.querySelector("pre").textContent;
said.labelled = [...document.querySelectorAll(".chart")].every((svg) => svg.getAttribute("role") === "img" && svg.getAttribute("aria-label") && svg.tabIndex === 0);

pointer("density", "pointermove", at("density", 0.22, 0.5));
said.hover = readout("density");
said.cross = figure("density").querySelectorAll(".cross circle").length;
pointer("density", "pointerleave", at("density", 0.2, 0.5));
said.left = readout("density");
pointer("plane", "pointermove", at("plane", 0.5, 0.5));
said.plane = readout("plane");
pointer("density", "pointerdown", at("density", 0.7, 0.3), { pointerType: "touch" });
said.tap = readout("density");

const [home, homeNumbers] = [drawn("density"), numbers("density")];
pointer("density", "pointerdown", at("density", 0.25, 0.25));
pointer("density", "pointermove", at("density", 0.5, 0.5));
said.rectangle = figure("density").querySelectorAll(".cross rect").length;
pointer("density", "pointerup", at("density", 0.5, 0.5));
said.dragged = panel("density").dataset.view;
said.redrawn = drawn("density") !== home && numbers("density") !== homeNumbers;
chart("density").dispatchEvent(new MouseEvent("dblclick", { bubbles: true, ...at("density", 0.5, 0.5) }));
said.doubleClicked = panel("density").dataset.view;
said.asBefore = drawn("density") === home && numbers("density") === homeNumbers;

const wheel = (ctrlKey) => !chart("schedule").dispatchEvent(
  new WheelEvent("wheel", { bubbles: true, cancelable: true, deltaY: -100, ctrlKey, ...at("schedule", 0.5, 0.5) }));
said.plainWheel = [wheel(false), panel("schedule").dataset.view || "home"].join(" ");
said.zoomWheel = wheel(true);
said.wheeled = panel("schedule").dataset.view;
said.logNumbers = numbers("schedule");
figure("schedule").querySelector("button[value=reset]").click();
said.reset = panel("schedule").dataset.view;
figure("schedule").querySelector("button[value=in]").click();
said.buttons = [...figure("schedule").querySelectorAll(".panel")].filter((one) => one.dataset.view !== "home").length;

chart("rates").focus();
key("rates", "ArrowRight");
said.key = readout("rates");
for (let i = 0; i < 20; i++) key("rates", "ArrowRight");
said.keys = readout("rates");
key("rates", "+");
said.plus = panel("rates").dataset.view;
key("rates", "0");
said.zero = panel("rates").dataset.view;

const first = (name) => figure(name).querySelector(".solid.mark path").getAttribute("d").match(/-?[\d.]+/g).slice(0, 2).map(Number);
const seen = first("spaces");
// Every position in the first space: lines, dots and text.
const places = () => [...panel("spaces").querySelectorAll(".solid path, .solid text")]
  .flatMap((piece) => (piece.getAttribute("d") || `${piece.getAttribute("x")} ${piece.getAttribute("y")}`).match(/-?[\d.]+ -?[\d.]+/g))
  .flatMap((pair) => pair.split(" ").map(Number));
const seenPlaces = places();
pointer("spaces", "pointerdown", at("spaces", 0.4, 0.4));
pointer("spaces", "pointermove", at("spaces", 0.6, 0.5));
pointer("spaces", "pointerup", at("spaces", 0.6, 0.5));
const turned = first("spaces");
said.turned = Math.hypot(turned[0] - seen[0], turned[1] - seen[1]) > 5;
const dragged = drawn("spaces");
key("spaces", "ArrowLeft");
said.keyTurned = drawn("spaces") !== dragged;
key("spaces", "0");
// Compare the drawing by the script with the one by Rust.
said.farthest = Math.max(...places().map((x, i) => Math.abs(x - seenPlaces[i]))).toFixed(2);
said.places = places().length - seenPlaces.length;
const [x, y] = seen, matrix = chart("spaces").getScreenCTM();
const spot = new DOMPoint(x, y).matrixTransform(matrix);
pointer("spaces", "pointermove", { clientX: spot.x, clientY: spot.y });
said.space = readout("spaces");

const entry = figure("rates").querySelector(".legend li");
entry.dispatchEvent(new PointerEvent("pointerenter"));
said.faded = figure("rates").querySelectorAll(".mark.faded").length;
entry.dispatchEvent(new PointerEvent("pointerleave"));
said.unfaded = figure("rates").querySelectorAll(".mark.faded").length;

const order = () => [...document.querySelectorAll("main > figure")].map((one) => one.dataset.name).join();
const before = order();
figure("density").querySelector("button[value=enlarge]").click();
const dialog = document.querySelector("dialog");
said.large = dialog.open && dialog.contains(figure("density"));
pointer("density", "pointermove", at("density", 0.22, 0.5));
said.largeHover = readout("density") === said.hover;
dialog.close();
setTimeout(() => {
  said.back = !dialog.open && order() === before;
  const list = document.createElement("ul");
  list.id = "said";
  for (const name in said) list.append(Object.assign(document.createElement("li"), { title: name, textContent: said[name] }));
  window.top.document.body.append(list);
}, 50);
