// Charts with three axes: turned by dragging; projected as in space.rs.

class Space {
  constructor(figure, svg, element) {
    Object.assign(this, { figure, svg, element });
    this.home = numbers(element.dataset.space);
    [this.cx, this.cy, this.unit, this.turn, this.tilt] = this.home;
    this.ranges = numbers(element.dataset.ranges);
    this.labels = element.dataset.labels.split("\n");
    this.solids = [...element.querySelectorAll(".solid")].map((solid) => {
      const flat = numbers(solid.dataset.cube), points = [];
      for (let i = 0; i < flat.length; i += 3) points.push(flat.slice(i, i + 3));
      return { points, ...solid.dataset, text: solid.querySelector("text"), paths: [...solid.querySelectorAll("path")] };
    });
  }
  holds() { return true; }
  project([x, y, z]) {
    const across = x * Math.cos(this.turn) - y * Math.sin(this.turn);
    const away = x * Math.sin(this.turn) + y * Math.cos(this.turn);
    return [this.cx + this.unit * across, this.cy + this.unit * (-z * Math.cos(this.tilt) - away * Math.sin(this.tilt))];
  }
  draw() {
    this.figure.readout.hidden = true;
    for (const { points, text, paths } of this.solids) {
      const places = points.map((point) => this.project(point).map((c) => c.toFixed(1)));
      if (text) { text.setAttribute("x", places[0][0]); text.setAttribute("y", Number(places[0][1]) + 4); continue; }
      paths.forEach((path, layer) => {
        const own = places.filter((_, i) => i % paths.length === layer);
        const dots = path.getAttribute("stroke-linecap") === "round";
        path.setAttribute("d", own.map(([x, y], i) => dots ? `M${x} ${y}h0` : `${i ? " " : "M"}${x} ${y}`).join(""));
      });
    }
    this.element.dataset.view = [this.turn, this.tilt, this.unit].map((x) => x.toFixed(3)).join(" ");
  }
  read({ x, y }) {
    const far = (point) => { const [a, b] = this.project(point); return Math.hypot(a - x, b - y); };
    let best;
    for (const { points, color, label } of this.solids) {
      if (color) for (const point of points) if (far(point) < (best ? far(best.point) : 14)) best = { point, color, label };
    }
    if (!best) { this.figure.readout.hidden = true; return; }
    const value = (d) => { const [low, high] = this.ranges.slice(2 * d, 2 * d + 2); return low + (best.point[d] + 1) / 2 * (high - low); };
    say(this.figure, this.svg, ...this.project(best.point), best.label ? [best.label] : [], this.labels.map((label, d) => [best.color, `${label}: ${short(value(d), 4)}`]));
  }
  clear() { this.figure.readout.hidden = true; }
  zoom(factor) { this.unit = clamp(this.unit * factor, this.home[2] / 4, this.home[2] * 12); this.draw(); }
  reset() { [this.cx, this.cy, this.unit, this.turn, this.tilt] = this.home; this.draw(); }
  rotate(dx, dy) { this.turn += dx; this.tilt = clamp(this.tilt + dy, -1.57, 1.57); this.draw(); }
  drag(from, to) { const was = this.was || from; this.was = to; this.rotate((to.x - was.x) / 110, (to.y - was.y) / 110); }
  drop() { this.was = undefined; }
  step(dx, dy) { this.rotate(dx / 12, dy / 12); }
}
