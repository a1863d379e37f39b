// Memory held over time as steps: a line that stays until the next allocation or release.
import type { MemoryCurve } from "../data";
import { h, svg } from "../dom";
import { bytes, time } from "../format";
import { axisFromZero } from "./axis";
import type { Axis } from "./axis";

const kMargin = { left: 60, right: 12, top: 20, bottom: 38 };
const kHeight = 220;

export class MemoryChart {
  readonly element: HTMLElement;
  private readonly canvas: SVGSVGElement;
  private readonly tip = h("div", { class: "tip" });
  private readonly start: number;
  private readonly end: number;
  private width = 0;
  private yAxis: Axis = axisFromZero("bytes", 1, 4);

  constructor(private readonly curve: MemoryCurve) {
    this.start = curve.time_ns[0];
    this.end = Math.max(this.start + 1, curve.time_ns[curve.time_ns.length - 1]);
    const label = `Memory over time, ${curve.title}: peak ${bytes(curve.peak_bytes)}`;
    this.canvas = svg("svg", { class: "memory-chart", role: "img", "aria-label": label });
    this.element = h("div", { class: "chart" }, this.canvas, this.tip);
    this.canvas.addEventListener("pointermove", (event) => this.hover(event));
    this.canvas.addEventListener("pointerleave", () => this.tip.classList.remove("shown"));
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
  private y(held: number): number {
    const height = kHeight - kMargin.top - kMargin.bottom;
    return kMargin.top + height * (1 - held / this.yAxis.max);
  }

  private draw(): void {
    this.yAxis = axisFromZero("bytes", this.curve.peak_bytes, 4);
    this.canvas.setAttribute("width", String(this.width));
    this.canvas.setAttribute("height", String(kHeight));
    this.canvas.replaceChildren(
      this.axes(),
      svg("path", { class: "area", d: `${this.line()}V${this.y(0)}H${this.x(this.start)}z` }),
      svg("path", { class: "line", d: this.line() }),
      svg("circle", { class: "peak", cx: this.x(this.curve.peak_ns), cy: this.y(this.curve.peak_bytes), r: 3.5 }),
    );
  }

  private line(): string {
    const { time_ns, bytes: held } = this.curve;
    let path = `M${this.x(time_ns[0]).toFixed(1)} ${this.y(held[0]).toFixed(1)}`;
    for (let i = 1; i < time_ns.length; ++i) {
      path += `H${this.x(time_ns[i]).toFixed(1)}V${this.y(held[i]).toFixed(1)}`;
    }
    return path;
  }

  private axes(): SVGElement {
    const group = svg("g", { class: "axis" });
    const right = this.width - kMargin.right;
    for (const tick of this.yAxis.ticks) {
      const y = this.y(tick.value);
      group.append(
        svg("line", { x1: kMargin.left, x2: right, y1: y, y2: y }),
        svg("text", { x: kMargin.left - 8, y: y + 4, "text-anchor": "end" }, tick.label),
      );
    }
    group.append(svg("text", { class: "unit", x: 0, y: 10 }, `memory, ${this.yAxis.scale.unit}`));
    const xAxis = axisFromZero("ns", this.end, Math.max(2, this.plotWidth / 90));
    for (const tick of xAxis.ticks) {
      if (tick.value < this.start || tick.value > this.end) continue;
      const x = this.x(tick.value);
      const at = { x, y: kHeight - kMargin.bottom + 18, "text-anchor": "middle" };
      group.append(svg("text", at, tick.label));
    }
    const middle = { x: kMargin.left + this.plotWidth / 2, y: kHeight - 4, "text-anchor": "middle" };
    group.append(svg("text", middle, `time in the recording, ${xAxis.scale.unit}`));
    return group;
  }

  private hover(event: PointerEvent): void {
    const offset = event.clientX - this.canvas.getBoundingClientRect().left - kMargin.left;
    const ns = this.start + ((this.end - this.start) * offset) / this.plotWidth;
    const { time_ns, bytes: held } = this.curve;
    let at = 0;
    while (at + 1 < time_ns.length && time_ns[at + 1] <= ns) ++at;
    this.tip.replaceChildren(h("b", {}, bytes(held[at])), h("div", { class: "muted" }, `since ${time(time_ns[at])}`));
    this.tip.classList.add("shown");
    this.tip.style.left = `${Math.min(this.width - this.tip.offsetWidth, Math.max(0, offset + kMargin.left + 12))}px`;
  }
}
