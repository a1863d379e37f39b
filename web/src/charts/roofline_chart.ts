// Kernels under the roofs of their GPU, on logarithmic axes: operations a second over operations a
// byte. Hovering or the arrow keys read a dot; Enter or a click opens its kernel.
import {h, svg} from "../dom";
import {fixed, significant} from "../format";
import type {Dot, Roofline} from "../roofline";
import {axesOf, freePlace, labelHeights, markerPath, overlaps, radiusOf, reachOf, shapeOf, slopeOf} from "./roofline_layout";
import type {Axes, Box} from "./roofline_layout";
import {placeTip, tipBox} from "./tip";

const kMargin = {
  left: 46,
  right: 12,
  top: 22,
  bottom: 40
};
const kHighest = 400;
const kNarrow = 560;  // there the axis alone has the unit
const kReach = 24;    // pixels from a dot's edge within which it is read

export class RooflineChart {
  readonly element: HTMLElement;
  private readonly canvas: SVGSVGElement;
  private readonly tip = tipBox();
  private axes: Axes;
  private width = 0;
  private height = 0;
  private cursor = -1;

  constructor(private readonly data: Roofline, private readonly nameOf: (dot: Dot) => string,
    private readonly onPick: (dot: Dot) => void) {
    this.axes = axesOf(data, {x: 4, y: 4});
    this.canvas = svg("svg", {
      class: "roofline-chart",
      tabindex: "0",
      role: "group",
      "aria-label":
        `Roofline of ${data.level.name}. Arrow keys read the kernels by falling time, ` +
        "Enter opens one; the table below has all of them.",
    });
    this.element = h("div", {class: "chart"}, this.canvas, this.tip);
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  private resize(): void {
    const width = Math.floor(this.element.clientWidth);
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.height = Math.round(Math.max(260, Math.min(kHighest, width * 0.62)));
    this.axes = axesOf(this.data, {x: this.plotWidth / 70, y: this.plotHeight / 40});
    this.draw();
  }

  private get plotWidth(): number {
    return this.width - kMargin.left - kMargin.right;
  }
  private get plotHeight(): number {
    return this.height - kMargin.top - kMargin.bottom;
  }
  private x(intensity: number): number {
    return kMargin.left + this.plotWidth * this.axes.x.share(intensity);
  }
  private y(tflops: number): number {
    return kMargin.top + this.plotHeight * (1 - this.axes.y.share(tflops));
  }

  private draw(): void {
    this.canvas.setAttribute("width", String(this.width));
    this.canvas.setAttribute("height", String(this.height));
    const labels: Box[] = [];
    const roofs = this.roofs(labels);
    this.canvas.replaceChildren(
      this.grid(), roofs, this.dots(), this.numbers(labels), svg("g", {class: "guide"}));
    if (this.cursor >= 0) this.read(this.cursor);
  }

  private grid(): SVGElement {
    const group = svg("g", {class: "axis"});
    const [right, bottom] = [this.width - kMargin.right, this.height - kMargin.bottom];
    for (const {value, label} of this.axes.y.ticks) {
      const y = this.y(value);
      group.append(svg("line", {x1: kMargin.left, x2: right, y1: y, y2: y}),
        svg("text", {x: kMargin.left - 6, y: y + 4, "text-anchor": "end"}, label));
    }
    for (const {value, label} of this.axes.x.ticks) {
      const x = this.x(value);
      group.append(svg("line", {x1: x, x2: x, y1: kMargin.top, y2: bottom}),
        svg("text", {x, y: bottom + 17, "text-anchor": "middle"}, label));
    }
    const middle = {x: kMargin.left + this.plotWidth / 2, y: this.height - 4};
    group.append(svg("text", {class: "unit", x: 0, y: 11}, "TFLOP/s"),
      svg("text", {...middle, "text-anchor": "middle"},
        `operations a byte of ${this.data.level.name}`));
    return group;
  }

  // --- roofs -------------------------------------------------------------------------------------

  private roofs(labels: Box[]): SVGElement {
    const {peaks, bandwidth} = this.data;
    const group = svg("g", {class: "roofs"});
    const right = this.width - kMargin.right;
    const heights = labelHeights(peaks.map(({peak}) => this.y(peak)), 13);
    peaks.forEach(({name, peak}, i) => {
      const y = this.y(peak);
      const ridge = bandwidth ? peak / bandwidth.peak : this.axes.x.min;
      const from = this.x(Math.max(this.axes.x.min, Math.min(ridge, this.axes.x.max)));
      const text = `${name} ${significant(peak)}${this.width < kNarrow ? "" : " TFLOP/s"}`;
      group.append(svg("path", {class: "roof", d: `M${from.toFixed(1)} ${y.toFixed(1)}H${right}`}),
        svg("text", {x: right, y: heights[i], "text-anchor": "end"}, text));
      labels.push(
        {left: right - 6.6 * text.length, right, top: heights[i] - 11, bottom: heights[i] + 3});
    });
    if (bandwidth) this.slope(group, bandwidth.name, bandwidth.peak, peaks[0]?.peak ?? 0);
    return group;
  }

  private slope(group: SVGElement, name: string, peak: number, highest: number): void {
    const line = slopeOf(this.axes, peak, highest);
    if (!line) return;
    const [x1, y1] = [this.x(line.from), this.y(line.from * peak)];
    const [x2, y2] = [this.x(line.to), this.y(line.to * peak)];
    const text = `${name} ${significant(peak)} TB/s`;
    const dots = this.data.dots.map((dot) => ({x: this.x(dot.intensity), y: this.y(dot.tflops)}));
    const {x, y} = freePlace({x: x1, y: y1}, {x: x2, y: y2}, 3.6 * text.length, dots);
    const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    group.append(
      svg("path",
        {class: "roof", d: `M${x1.toFixed(1)} ${y1.toFixed(1)}L${x2.toFixed(1)} ${y2.toFixed(1)}`}),
      svg("text", {
        "text-anchor": "middle",
        transform: `translate(${x.toFixed(1)} ${y.toFixed(1)}) rotate(${angle.toFixed(1)})`,
        y: -6,
      },
        text));
  }

  // --- dots --------------------------------------------------------------------------------------

  private marker(dot: Dot, grown = 0): string {
    return markerPath(
      shapeOf(dot), this.x(dot.intensity), this.y(dot.tflops), radiusOf(dot) + grown);
  }

  // Smaller ones are drawn over larger ones.
  private dots(): SVGElement {
    const sorted = [...this.data.dots].sort((a, b) => radiusOf(b) - radiusOf(a));
    return svg("g", {class: "dots"},
      ...sorted.map(
        (dot) => svg("path",
          {class: `dot by-${shapeOf(dot)}${dot.atMost ? " at-most" : ""}`, d: this.marker(dot)})));
  }

  // Beside the dots, of those for which there is room, the longest kernels first.
  private numbers(taken: Box[]): SVGElement {
    const group = svg("g", {class: "dot-labels"});
    const {dots} = this.data;
    const steps = dots.filter(({number}) => number === null);
    for (const dot of [...steps, ...dots.filter(({number}) => number !== null)]) {
      const text = dot.number === null ? "step" : String(dot.number);
      const [x, y] = [this.x(dot.intensity), this.y(dot.tflops)];
      const left = x + reachOf(dot) + 3;
      const box = {left, right: left + 7 * text.length, top: y - 7, bottom: y + 7};
      if (box.right > this.width || taken.some((other) => overlaps(box, other))) continue;
      taken.push(box);
      group.append(svg("text", {x: left, y: y + 4}, text));
    }
    return group;
  }

  // --- reading -----------------------------------------------------------------------------------

  private listen(): void {
    const {canvas} = this;
    canvas.addEventListener("pointermove", (event) => this.read(this.dotAt(event)));
    canvas.addEventListener("pointerleave", () => this.read(-1));
    canvas.addEventListener("blur", () => this.read(-1));
    canvas.addEventListener("focus", () => {
      if (canvas.matches(":focus-visible")) this.read(Math.max(0, this.cursor));
    });
    canvas.addEventListener("click", (event) => {
      const dot = this.dotAt(event);
      this.read(dot);
      if (dot >= 0) this.onPick(this.data.dots[dot]);
    });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    const last = this.data.dots.length - 1;
    if (event.key === "Escape") return this.read(-1);
    if (event.key === "Enter" && this.cursor >= 0) {
      return this.onPick(this.data.dots[this.cursor]);
    }
    const targets: Record<string, number> =
      {ArrowLeft: this.cursor - 1, ArrowRight: this.cursor + 1, Home: 0, End: last};
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.read(Math.max(0, Math.min(last, target)));
  }

  // The dot whose edge is nearest; -1: none is near.
  private dotAt(event: MouseEvent): number {
    const box = this.canvas.getBoundingClientRect();
    const [left, top] = [event.clientX - box.left, event.clientY - box.top];
    let [nearest, least] = [-1, kReach];
    this.data.dots.forEach((dot, i) => {
      const [x, y] = [this.x(dot.intensity), this.y(dot.tflops)];
      const distance = Math.hypot(x - left, y - top) - radiusOf(dot);
      if (distance < least) [nearest, least] = [i, distance];
    });
    return nearest;
  }

  private read(at: number): void {
    this.cursor = at;
    const guide = this.canvas.querySelector(".guide");
    this.tip.classList.toggle("shown", at >= 0);
    guide?.replaceChildren();
    if (at < 0 || !guide) return;
    const dot = this.data.dots[at];
    const [x, y] = [this.x(dot.intensity), this.y(dot.tflops)];
    const ring = svg("path", {class: "ring", d: this.marker(dot, 4)});
    if (dot.attainable) {
      const top = this.y(dot.attainable);
      guide.append(svg("path", {class: "could", d: `M${x} ${y}V${top}M${x - 6} ${top}h12`}));
    }
    guide.append(ring);
    this.fillTip(dot);
    placeTip(this.tip, x, this.width);
    const below = y + radiusOf(dot) + 12;
    const above = y - radiusOf(dot) - 12 - this.tip.offsetHeight;
    this.tip.style.top = `${y < this.height / 2 ? below : above}px`;
  }

  private fillTip(dot: Dot): void {
    const of = dot.atMost ? "at most " : "";
    const rows: [string, string][] = [
      [`Operations a byte of ${this.data.level.name}`, of + significant(dot.intensity)],
      [`TFLOP/s, ${dot.type}`, of + significant(dot.tflops)],
      ["Attainable", dot.attainable === null ? "not known" : significant(dot.attainable)],
      ["Attained", dot.attained === null ? "–" : `${fixed(dot.attained, 1)} %`],
      ["Lowest roof", dot.roof === dot.type ? `peak of ${dot.roof}` : dot.roof || "not known"],
    ];
    const share = dot.share === null ? "" : `${fixed(dot.share, 1)} % of time`;
    const number = dot.number === null ? "" : `${dot.number}. `;
    this.tip.replaceChildren(h("b", {class: "tip-name"}, number + this.nameOf(dot)),
      h("div", {class: "muted"}, share),
      h("table", {},
        ...rows.map(([name, value]) => h("tr", {}, h("td", {}, name), h("td", {}, value)))));
  }
}
