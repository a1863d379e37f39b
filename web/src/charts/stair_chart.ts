// A value that stays constant until it changes: memory held, launches waiting. It may consist of
// layers, drawn on top of each other. Hovering or the arrow keys read its values.
import type {Unit} from "../data";
import {h, svg} from "../dom";
import {time} from "../format";
import {axisFromZero} from "./axis";
import type {Axis} from "./axis";
import {placeTip, tipBox} from "./tip";

export interface Stairs {
  label: string;  // for screen readers
  yTitle: string;
  xTitle: string;
  unit: Unit;
  text: (value: number) => string;
  time_ns: readonly number[];
  value: readonly number[];
  peak: number;
  peak_ns: number|null;                                               // where to mark it
  layers: {name: string; color: string; value: readonly number[]}[];  // empty: one
  mark?: {from_ns: number; to_ns: number}|null;  // a stretch of time that stands out
}

const kMargin = {
  left: 60,
  right: 12,
  top: 20,
  bottom: 38
};
const kHeight = 220;

export class StairChart {
  readonly element: HTMLElement;
  private readonly canvas: SVGSVGElement;
  private readonly tip = tipBox();
  private readonly start: number;
  private readonly end: number;
  private width = 0;
  private cursor = 0;  // point, for the keyboard
  private yAxis: Axis = axisFromZero("", 1, 4);

  constructor(private readonly data: Stairs) {
    this.start = data.time_ns[0];
    this.end = Math.max(this.start + 1, data.time_ns[data.time_ns.length - 1]);
    const label = `${data.label}. Arrow keys read values.`;
    this.canvas =
      svg("svg", {class: "stair-chart", role: "group", tabindex: "0", "aria-label": label});
    this.element = h("div", {class: "chart"}, this.canvas, this.tip);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.tip.classList.remove("shown"));
    this.canvas.addEventListener("blur", () => this.tip.classList.remove("shown"));
    this.canvas.addEventListener("keydown", (event) => this.key(event));
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  private resize(): void {
    const width = Math.floor(this.element.clientWidth);
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.draw();
  }

  private get plotWidth(): number {
    return this.width - kMargin.left - kMargin.right;
  }
  private x(ns: number): number {
    return kMargin.left + (this.plotWidth * (ns - this.start)) / (this.end - this.start);
  }
  private y(value: number): number {
    const height = kHeight - kMargin.top - kMargin.bottom;
    return kMargin.top + height * (1 - value / this.yAxis.max);
  }

  private draw(): void {
    const {data} = this;
    this.yAxis = axisFromZero(data.unit, Math.max(1, data.peak), 4);
    this.canvas.setAttribute("width", String(this.width));
    this.canvas.setAttribute("height", String(kHeight));
    const {peak_ns} = data;
    this.canvas.replaceChildren(
      this.axes(),
      ...this.areas(),
      svg("path", {class: "line", d: this.line(data.value)}),
      ...this.mark(),
      ...(peak_ns === null
          ? []
          : [svg("circle", {class: "peak", cx: this.x(peak_ns), cy: this.y(data.peak), r: 3.5})]),
    );
  }

  // Draws from the top layer down to the first, since each covers the ones below it.
  private areas(): SVGElement[] {
    const {layers, value} = this.data;
    const close = `V${this.y(0)}H${this.x(this.start)}z`;
    if (layers.length === 0) return [svg("path", {class: "area", d: this.line(value) + close})];
    const below = value.map(() => 0);
    const paths = layers.map((layer) => {
      layer.value.forEach((part, i) => (below[i] += part));
      return svg("path", {class: "layer", d: this.line(below) + close, fill: layer.color});
    });
    return paths.reverse();
  }

  private mark(): SVGElement[] {
    const {mark} = this.data;
    if (!mark) return [];
    const [from, to] =
      [mark.from_ns, mark.to_ns].map((ns) => this.x(Math.max(this.start, Math.min(this.end, ns))));
    const height = kHeight - kMargin.top - kMargin.bottom;
    const box = (left: number, right: number, name: string): SVGElement =>
      svg("rect", {class: name, x: left, width: Math.max(0, right - left), y: kMargin.top, height});
    const right = this.width - kMargin.right;
    const veils = [box(kMargin.left, from, "veil"), box(to, right, "veil")];
    return [svg("g", {class: "selection"}, ...veils, box(from, Math.max(from + 2, to), "outline"))];
  }

  private line(value: readonly number[]): string {
    const {time_ns} = this.data;
    let path = `M${this.x(time_ns[0]).toFixed(1)} ${this.y(value[0]).toFixed(1)}`;
    for (let i = 1; i < time_ns.length; ++i) {
      path += `H${this.x(time_ns[i]).toFixed(1)}V${this.y(value[i]).toFixed(1)}`;
    }
    return path;
  }

  private axes(): SVGElement {
    const group = svg("g", {class: "axis"});
    const right = this.width - kMargin.right;
    for (const tick of this.yAxis.ticks) {
      const y = this.y(tick.value);
      group.append(
        svg("line", {x1: kMargin.left, x2: right, y1: y, y2: y}),
        svg("text", {x: kMargin.left - 8, y: y + 4, "text-anchor": "end"}, tick.label),
      );
    }
    const {unit} = this.yAxis.scale;
    group.append(svg("text", {class: "unit", x: 0, y: 10},
      unit ? `${this.data.yTitle}, ${unit}` : this.data.yTitle));
    const xAxis = axisFromZero("ns", this.end, Math.max(2, this.plotWidth / 90));
    for (const tick of xAxis.ticks) {
      if (tick.value < this.start || tick.value > this.end) continue;
      const at = {x: this.x(tick.value), y: kHeight - kMargin.bottom + 18, "text-anchor": "middle"};
      group.append(svg("text", at, tick.label));
    }
    const middle = {x: kMargin.left + this.plotWidth / 2, y: kHeight - 4, "text-anchor": "middle"};
    group.append(svg("text", middle, `${this.data.xTitle}, ${xAxis.scale.unit}`));
    return group;
  }

  private hover(event: PointerEvent): void {
    const offset = event.clientX - this.canvas.getBoundingClientRect().left - kMargin.left;
    const ns = this.start + ((this.end - this.start) * offset) / this.plotWidth;
    const {time_ns} = this.data;
    let at = 0;
    while (at + 1 < time_ns.length && time_ns[at + 1] <= ns) ++at;
    this.read(at, offset + kMargin.left);
  }

  private key(event: KeyboardEvent): void {
    const last = this.data.time_ns.length - 1;
    const step = event.shiftKey ? 10 : 1;
    const targets: Record<string, number> =
      {ArrowLeft: this.cursor - step, ArrowRight: this.cursor + step, Home: 0, End: last};
    if (event.key === "Escape") this.tip.classList.remove("shown");
    const target = targets[event.key];
    if (target === undefined) return;
    event.preventDefault();
    this.cursor = Math.max(0, Math.min(last, target));
    this.read(this.cursor, this.x(this.data.time_ns[this.cursor]));
  }

  private read(at: number, x: number): void {
    const {time_ns, value, layers, text} = this.data;
    this.cursor = at;
    const parts =
      layers.filter((layer) => layer.value[at] > 0)
        .map(
          (layer) => h("tr", {},
            h("td", {}, h("i", {class: "chip", style: `background:${layer.color}`}), layer.name),
            h("td", {}, text(layer.value[at]))),
        );
    this.tip.replaceChildren(
      h("b", {}, text(value[at])),
      h("div", {class: "muted"}, `since ${time(time_ns[at])}`),
      parts.length > 0 ? h("table", {}, ...parts.reverse()) : "",
    );
    this.tip.classList.add("shown");
    placeTip(this.tip, x, this.width);
  }
}
