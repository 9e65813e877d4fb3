// Charts with two axes: readout, zoom, and axes drawn anew.

class Scale {
  constructor(text, from, to) {
    const [low, high, kind] = text.split(" ");
    Object.assign(this, { log: kind === "log", from, to });
    this.home = [this.even(Number(low)), this.even(Number(high))];
    this.view = this.home;
  }
  even(value) { return this.log ? Math.log10(value) : value; }
  at(value, [low, high] = this.view) {
    return this.from + (this.even(value) - low) / (high - low) * (this.to - this.from);
  }
  evenAt(pixel, [low, high] = this.view) {
    return low + (pixel - this.from) / (this.to - this.from) * (high - low);
  }
  value(pixel) { const even = this.evenAt(pixel); return this.log ? 10 ** even : even; }
  // From a place in the first drawing to the same value's place now.
  moved(pixel) {
    const [low, high] = this.view;
    return this.from + (this.evenAt(pixel, this.home) - low) / (high - low) * (this.to - this.from);
  }
  look(a, b) {
    const [low, high] = this.home, least = (high - low) / 1000;
    [a, b] = [Math.max(low, Math.min(a, b)), Math.min(high, Math.max(a, b))];
    if (b - a < least) [a, b] = [(a + b - least) / 2, (a + b + least) / 2];
    this.view = [a, b];
  }
  ticks(most) {
    const [low, high] = this.view;
    if (this.log && high - low > 1) {
      const every = Math.ceil((high - low) / most), powers = [];
      for (let k = Math.ceil(low / every) * every; k <= high; k += every) powers.push(10 ** k);
      return powers;
    }
    const [a, b] = this.log ? [10 ** low, 10 ** high] : [low, high];
    const power = 10 ** Math.floor(Math.log10((b - a) / most));
    const step = [1, 2, 5, 10].map((part) => part * power).find((size) => (b - a) / size <= most);
    const values = [];
    for (let i = Math.ceil(a / step); i * step <= b && values.length < 50; i++) values.push(i * step);
    return values;
  }
}

class Panel {
  constructor(figure, svg, element) {
    Object.assign(this, { figure, svg, element });
    const [left, top, width, height] = numbers(element.dataset.area);
    this.area = { left, top, width, height, right: left + width, bottom: top + height };
    this.x = new Scale(element.dataset.x, left, left + width);
    this.y = new Scale(element.dataset.y, top + height, top);
    this.axes = element.querySelector(".axes");
    this.homeAxes = this.axes.innerHTML;
    this.paths = [...element.querySelectorAll(".marks path")].map((path) => [path, path.getAttribute("d")]);
    this.series = [...element.querySelectorAll(".mark")].map((mark) => {
      const { line, dots, band, label, color } = mark.dataset;
      const width = band ? 3 : 2, flat = numbers(line || dots || band), points = [];
      for (let i = 0; i < flat.length; i += width) points.push(flat.slice(i, i + width));
      return { points, label, color, dots: dots !== undefined, line: line !== undefined };
    }).filter((series) => series.points.length);
    this.cross = add(element, "g", { class: "cross", "pointer-events": "none" });
  }
  holds({ x, y }) {
    const { left, right, top, bottom } = this.area;
    return x >= left - 4 && x <= right + 4 && y >= top - 4 && y <= bottom + 4;
  }
  read({ x, y }) {
    this.clear();
    const { left, right, top, bottom } = this.area, rows = [], names = this.element.dataset;
    x = clamp(x, left, right); y = clamp(y, top, bottom); this.last = { x, y };
    const nearest = (points, far) => points.reduce((best, p) => far(p) < far(best) ? p : best);
    // All series are read at the same place: where the first of them has a point.
    const lead = this.series.find((one) => one.line) || this.series.find((one) => !one.dots);
    const across = lead && nearest(lead.points, (p) => Math.abs(this.x.at(p[0]) - x))[0];
    const here = lead ? this.x.at(across) : x;
    for (const { points, label, color, dots } of this.series) {
      const far = (p) => dots ? Math.hypot(this.x.at(p[0]) - x, this.y.at(p[1]) - y) : Math.abs(this.x.at(p[0]) - here);
      const near = nearest(points, far);
      if (!(far(near) < (dots ? 18 : 40))) continue;
      const value = near.length === 3 && near[1] !== 0 ? `${short(near[1])} to ${short(near[2])}` : short(near.at(-1));
      const said = label || names.yLabel || "y";
      rows.push([color, dots ? `${label ? label + ": " : ""}(${short(near[0])}, ${short(near[1])})` : `${said}: ${value}`]);
      for (const end of near.slice(1)) {
        const [cx, cy] = [this.x.at(near[0]), this.y.at(end)];
        if (cy >= top && cy <= bottom && cx >= left && cx <= right) add(this.cross, "circle", { cx, cy, r: 3.5, fill: "#fff", stroke: color, "stroke-width": 1.6 });
      }
    }
    const title = [`${names.xLabel || "x"}: ${short(across ?? this.x.value(x), across === undefined ? 4 : 5)}`];
    if (across === undefined) title.push(`${names.yLabel || "y"}: ${short(this.y.value(y), 4)}`);
    const at = across === undefined ? x : clamp(this.x.at(across), left, right);
    const style = { stroke: "#888", "stroke-width": 0.7, "stroke-dasharray": "2 2" };
    add(this.cross, "line", { x1: at, x2: at, y1: top, y2: bottom, ...style });
    if (across === undefined) add(this.cross, "line", { x1: left, x2: right, y1: y, y2: y, ...style });
    say(this.figure, this.svg, at, y, title, rows);
  }
  clear() { this.cross.replaceChildren(); this.figure.readout.hidden = true; }
  zoom(factor, at = this.last || { x: (this.area.left + this.area.right) / 2, y: (this.area.top + this.area.bottom) / 2 }) {
    for (const [scale, pixel] of [[this.x, at.x], [this.y, at.y]]) {
      const middle = scale.evenAt(pixel), [low, high] = scale.view;
      scale.look(middle - (middle - low) / factor, middle + (high - middle) / factor);
    }
    this.draw();
  }
  frame(a, b) {
    this.x.look(this.x.evenAt(a.x), this.x.evenAt(b.x));
    this.y.look(this.y.evenAt(a.y), this.y.evenAt(b.y));
    this.draw();
  }
  reset() { this.x.view = this.x.home; this.y.view = this.y.home; this.last = undefined; this.draw(); }
  draw() {
    this.clear();
    const whole = [this.x, this.y].every(({ view, home }) => view[0] === home[0] && view[1] === home[1]);
    const move = (_, x, y) => `${this.x.moved(Number(x)).toFixed(2)} ${this.y.moved(Number(y)).toFixed(2)}`;
    for (const [path, d] of this.paths) path.setAttribute("d", whole ? d : d.replace(/(-?[\d.]+) (-?[\d.]+)/g, move));
    this.element.dataset.view = whole ? "home" : [...this.x.view, ...this.y.view].map((u) => u.toPrecision(6)).join(" ");
    if (whole) { this.axes.innerHTML = this.homeAxes; return; }
    this.axes.replaceChildren();
    const { left, right, top, bottom, width, height } = this.area, shown = numbers(this.element.dataset.numbers);
    let lines = "";
    const words = (value, attributes) => add(this.axes, "text", { "font-size": 11, fill: "#555", ...attributes }, short(value, 7));
    for (const value of this.x.ticks(clamp(Math.floor(width / 62), 2, 10))) {
      const x = this.x.at(value);
      lines += `M${x} ${top}V${bottom}`;
      if (shown[0]) words(value, { x, y: bottom + 16, "text-anchor": "middle" });
    }
    for (const value of this.y.ticks(clamp(Math.floor(height / 40), 2, 10))) {
      const y = this.y.at(value);
      lines += `M${left} ${y}H${right}`;
      if (shown[1]) words(value, { x: left - 6, y: y + 4, "text-anchor": "end" });
    }
    this.axes.prepend(add(this.axes, "path", { d: lines, stroke: "#e4e4e4", "stroke-width": 0.8, fill: "none" }));
  }
  drag(from, to) {
    this.clear();
    const [x, y] = [Math.min(from.x, to.x), Math.min(from.y, to.y)];
    add(this.cross, "rect", { x, y, width: Math.abs(from.x - to.x), height: Math.abs(from.y - to.y), fill: "#0072b2", "fill-opacity": 0.12, stroke: "#0072b2", "stroke-width": 0.8 });
  }
  drop(from, to) {
    this.clear();
    if (Math.abs(from.x - to.x) > 6 && Math.abs(from.y - to.y) > 6) this.frame(from, to);
  }
  step(dx, dy) {
    const { left, top, width, height } = this.area, last = this.last || { x: left + width / 2, y: top + height / 2 };
    this.read({ x: last.x + dx * width / 60, y: last.y + dy * height / 60 });
  }
}
