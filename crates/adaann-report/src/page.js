// Charts answer to pointer, touch and keyboard. Without scripts the page shows the same drawings.

const NAMESPACE = "http://www.w3.org/2000/svg";
const numbers = (text) => (text || "").split(" ").filter(Boolean).map(Number);
const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
const short = (x, digits = 5) => String(Number(x.toPrecision(digits))).replace("-", "−");

function add(parent, tag, attributes, text) {
  const inside = parent.namespaceURI === NAMESPACE || tag === "svg";
  const element = inside ? document.createElementNS(NAMESPACE, tag) : document.createElement(tag);
  for (const name in attributes) element.setAttribute(name, attributes[name]);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}

// The place of a pointer in a drawing's own coordinates.
function place(svg, event) {
  const matrix = svg.getScreenCTM();
  return new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
}

// ---- What the pointer is at ----

function say(figure, svg, x, y, title, rows) {
  const box = figure.readout;
  box.replaceChildren();
  for (const line of title) add(box, "div", { class: "head" }, line);
  for (const [color, text] of rows) {
    const row = add(box, "div", {});
    add(row, "i", { style: `background:${color}` });
    add(row, "span", {}, text);
  }
  box.hidden = false;
  const at = new DOMPoint(x, y).matrixTransform(svg.getScreenCTM());
  const frame = figure.element.getBoundingClientRect();
  const left = at.x - frame.left, room = frame.width - box.offsetWidth;
  const beside = left + 14 > room ? left - 14 - box.offsetWidth : left + 14;
  box.style.left = `${clamp(beside, 0, Math.max(0, room))}px`;
  box.style.top = `${Math.max(0, at.y - frame.top - box.offsetHeight - 10)}px`;
}

// ---- Figures ----

class Figure {
  constructor(element) {
    this.element = element;
    this.charts = [];
    const tools = element.querySelector(".tools");
    tools.hidden = false;
    for (const button of tools.children) button.addEventListener("click", () => this.tool(button.value));
    this.readout = add(element, "div", { class: "readout", role: "status" });
    this.readout.hidden = true;
    for (const svg of element.querySelectorAll(".chart")) this.listen(svg);
    for (const entry of element.querySelectorAll(".legend li")) {
      entry.addEventListener("pointerenter", () => this.highlight(entry.dataset.label));
      entry.addEventListener("pointerleave", () => this.highlight());
    }
  }
  tool(name) {
    if (name === "enlarge") return enlarge(this);
    for (const chart of this.charts) name === "reset" ? chart.reset() : chart.zoom(name === "in" ? 1.5 : 1 / 1.5);
  }
  highlight(label) {
    for (const mark of this.element.querySelectorAll(".mark")) mark.classList.toggle("faded", label !== undefined && mark.dataset.label !== label);
  }
  listen(svg) {
    const charts = [...svg.querySelectorAll(".panel")].map((panel) => new Panel(this, svg, panel))
      .concat([...svg.querySelectorAll(".space")].map((space) => new Space(this, svg, space)));
    this.charts.push(...charts);
    let current = charts[0], start;
    const find = (event) => {
      const at = place(svg, event), found = charts.find((chart) => chart.holds(at));
      if (current !== found) current?.clear();
      current = found || current;
      return [found, at];
    };
    svg.addEventListener("pointermove", (event) => {
      if (start) return start.chart.drag(start.at, place(svg, event));
      const [chart, at] = find(event);
      if (chart && event.pointerType !== "touch") chart.read(at);
    });
    svg.addEventListener("pointerdown", (event) => {
      const [chart, at] = find(event);
      if (!chart || event.button !== 0) return;
      if (event.pointerType === "touch" && chart instanceof Panel) return chart.read(at);
      start = { chart, at };
      if (event.isTrusted) svg.setPointerCapture(event.pointerId);
    });
    const end = (event) => {
      start?.chart.drop(start.at, place(svg, event));
      if (start && event.pointerType === "touch") start.chart.read(start.at);
      start = undefined;
    };
    svg.addEventListener("pointerup", end);
    svg.addEventListener("pointercancel", () => { start?.chart.drop(start.at, start.at); start = undefined; });
    svg.addEventListener("pointerleave", (event) => { if (!start && event.pointerType !== "touch") charts.forEach((chart) => chart.clear()); });
    svg.addEventListener("dblclick", (event) => find(event)[0]?.reset());
    svg.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      const [chart, at] = find(event);
      chart?.zoom(event.deltaY < 0 ? 1.25 : 0.8, at);
    }, { passive: false });
    const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    svg.addEventListener("keydown", (event) => {
      const { key } = event;
      if (!current || event.ctrlKey || event.metaKey || event.altKey) return;
      if (steps[key]) current.step(...steps[key]);
      else if (key === "+" || key === "=") current.zoom(1.5);
      else if (key === "-") current.zoom(1 / 1.5);
      else if (key === "0") current.reset();
      else if (key === "Enter") enlarge(this);
      else return;
      event.preventDefault();
    });
    svg.addEventListener("blur", () => charts.forEach((chart) => chart.clear()));
  }
}

const dialog = add(document.body, "dialog", { class: "large", "aria-label": "Enlarged figure" });
let away;
function enlarge(figure) {
  if (dialog.open) return dialog.close();
  away = document.createComment("");
  figure.element.querySelector("button[value=enlarge]").textContent = "Close";
  figure.element.replaceWith(away);
  dialog.append(figure.element);
  dialog.showModal();
}
dialog.addEventListener("close", () => {
  dialog.querySelector("button[value=enlarge]").textContent = "Enlarge";
  away.replaceWith(dialog.firstElementChild);
});
dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });

for (const element of document.querySelectorAll("figure.figure")) new Figure(element);
const folded = document.querySelectorAll("details:not([open])");
window.addEventListener("beforeprint", () => folded.forEach((details) => { details.open = true; }));
window.addEventListener("afterprint", () => folded.forEach((details) => { details.open = false; }));
