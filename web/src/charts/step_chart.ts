// Step time over the run: one stacked column per step, phases in the order in which they are
// listed. Hovering or the arrow keys read values; dragging (or shift with the arrow keys) selects
// steps.
import {kSteady} from "../data";
import type {Steps} from "../data";
import {h, svg} from "../dom";
import {percent, time} from "../format";
import {seriesColor, seriesNumbers} from "../palette";
import type {Range} from "../selection";
import {axisFromZero, integerTicks} from "./axis";
import type {Axis} from "./axis";
import {columnsFor, heightThatFits, runsOfKind} from "./columns";
import type {ColumnBar} from "./columns";
import {placeTip, tipBox} from "./tip";

const kMargin = {
  left: 52,
  right: 10,
  top: 34,
  bottom: 40
};

export class StepChart {
  readonly element: HTMLElement;
  private readonly canvas: SVGSVGElement;
  private readonly tip: HTMLElement;
  private readonly fullButton: HTMLButtonElement;
  private readonly series: number[];
  private columns: ColumnBar[] = [];
  private axis: Axis = axisFromZero("ns", 1, 4);
  private width = 0;
  private height = 0;
  private cursor = -1;    // column
  private dragFrom = -1;  // column where the pointer went down
  private keyFrom = -1;   // column where shift with arrows began
  private selected: Range|null = null;
  private showAll = false;

  constructor(
    private readonly steps: Steps,
    private readonly kindNames: readonly string[],
    private readonly onSelect: (range: Range|null) => void,
  ) {
    this.series = seriesNumbers(steps.phases.map((phase) => phase.key));
    this.canvas = svg("svg", {
      class: "step-chart",
      tabindex: "0",
      role: "group",
      "aria-label":
        "Step time by step. Arrow keys move, shift with arrow keys selects, Escape clears.",
    });
    this.tip = tipBox();
    this.fullButton = h("button", {class: "quiet", type: "button", hidden: true});
    this.fullButton.addEventListener("click", () => {
      this.showAll = !this.showAll;
      this.draw();
    });
    this.element = h(
      "div",
      {class: "chart"},
      h("div", {class: "chart-actions"}, this.fullButton),
      this.canvas,
      this.tip,
    );
    this.listen();
    new ResizeObserver(() => this.resize()).observe(this.element);
  }

  private color(phase: number): string {
    return seriesColor(this.series[phase], this.steps.phases[phase].idle !== undefined);
  }

  select(range: Range|null): void {
    this.selected = range;
    if (this.width > 0) this.draw();
  }

  private resize(): void {
    const width = Math.floor(this.element.clientWidth);
    if (width === 0 || width === this.width) return;
    this.width = width;
    this.height = width < 560 ? 230 : 300;
    this.draw();
  }

  private get plotWidth(): number {
    return this.width - kMargin.left - kMargin.right;
  }
  private get plotHeight(): number {
    return this.height - kMargin.top - kMargin.bottom;
  }
  private x(column: number): number {
    return kMargin.left + (column * this.plotWidth) / this.columns.length;
  }
  private y(ns: number): number {
    return kMargin.top + this.plotHeight * (1 - Math.min(1, ns / this.axis.max));
  }

  private draw(): void {
    this.columns = columnsFor(this.steps, this.plotWidth);
    const fit = heightThatFits(this.columns);
    const longest = this.columns.reduce((most, column) => Math.max(most, column.duration_ns), 0);
    this.axis = axisFromZero("ns", this.showAll ? longest : fit.height, 5);
    this.fullButton.hidden = !fit.cut;
    this.fullButton.textContent = this.showAll ? "Fit to ordinary steps" : "Show full height";
    this.canvas.setAttribute("width", String(this.width));
    this.canvas.setAttribute("height", String(this.height));
    this.canvas.setAttribute("viewBox", `0 0 ${this.width} ${this.height}`);
    this.canvas.replaceChildren(
      this.grid(),
      this.background(),
      ...this.bars(),
      this.marks(),
      this.medianLine(),
      this.selection(),
      svg("rect", {class: "cursor", y: kMargin.top, height: this.plotHeight, width: 0}),
    );
    this.moveCursor(-1);
  }

  private grid(): SVGElement {
    const group = svg("g", {class: "axis"});
    const right = this.width - kMargin.right;
    for (const tick of this.axis.ticks) {
      const y = this.y(tick.value);
      group.append(
        svg("line", {x1: kMargin.left, x2: right, y1: y, y2: y}),
        svg("text", {x: kMargin.left - 8, y: y + 4, "text-anchor": "end"}, tick.label),
      );
    }
    const unit = this.axis.scale.unit;
    group.append(svg("text", {x: 0, y: 10, class: "unit"}, `step time, ${unit}`));
    const numbers = this.steps.number;
    const last = numbers[numbers.length - 1];
    const bottom = this.height - kMargin.bottom;
    for (const number of integerTicks(numbers[0], last, this.plotWidth / 70)) {
      const column = this.columnOfStep(number);
      const x = (this.x(column) + this.x(column + 1)) / 2;
      group.append(
        svg("line", {class: "tick", x1: x, x2: x, y1: bottom, y2: bottom + 5}),
        svg("text", {x, y: bottom + 18, "text-anchor": "middle"}, String(number)),
      );
    }
    const middle = kMargin.left + this.plotWidth / 2;
    const name = svg("text", {x: middle, y: this.height - 4, "text-anchor": "middle"}, "step");
    group.append(name);
    return group;
  }

  private columnOfStep(number: number): number {
    const {number: first} = this.steps;
    let entry = 0;
    while (entry + 1 < first.length && first[entry + 1] <= number) ++entry;
    return this.columns.findIndex((column) => column.first <= entry && entry <= column.last);
  }

  // Warm-up and other steps that do not count have a shaded background.
  private background(): SVGElement {
    const group = svg("g");
    for (const {kind, from, to} of runsOfKind(this.columns)) {
      if (kind === kSteady) continue;
      const x = this.x(from);
      const width = this.x(to) - x;
      const name = this.kindNames[kind];
      const box = {class: "set-apart", x, width, y: kMargin.top, height: this.plotHeight};
      group.append(svg("rect", box));
      if (width > 6 * name.length || from === 0) {
        const at = {class: "set-apart-label", x: x + 2, y: kMargin.top - 5};
        group.append(svg("text", at, name));
      }
    }
    return group;
  }

  // One path per phase draws all columns, so that a thousand steps cost a dozen elements.
  private bars(): SVGElement[] {
    const paths = this.steps.phases.map(() => "");
    let plain = "";
    const gap = this.plotWidth / this.columns.length > 5 ? 1 : 0;
    this.columns.forEach((column, i) => {
      const x = this.x(i).toFixed(2);
      const width = (this.x(i + 1) - this.x(i) - gap).toFixed(2);
      const box = (from: number, to: number): string => {
        const top = this.y(to);
        return `M${x} ${top.toFixed(2)}h${width}V${this.y(from).toFixed(2)}h-${width}z`;
      };
      if (paths.length === 0) plain += box(0, column.duration_ns);
      let below = 0;
      column.phase_ns.forEach((ns, phase) => {
        if (ns > 0 && below < this.axis.max) paths[phase] += box(below, below + ns);
        below += ns;
      });
    });
    if (paths.length === 0) return [svg("path", {d: plain, fill: seriesColor(3)})];
    return paths.map((d, phase) => svg("path", {d, style: `fill:${this.color(phase)}`}));
  }

  // Outliers have a mark above the column; a cut column shows its real height.
  private marks(): SVGElement {
    const group = svg("g", {class: "marks"});
    let lastLabel = -Infinity;
    this.columns.forEach((column, i) => {
      const x = (this.x(i) + this.x(i + 1)) / 2;
      const isCut = column.duration_ns > this.axis.max * 1.0001;
      if (!column.has_outlier && !isCut) return;
      const y = isCut ? kMargin.top + 2 : this.y(column.duration_ns) - 3;
      group.append(svg("path", {class: isCut ? "cut" : "outlier", d: `M${x} ${y - 7}l4.5 7h-9z`}));
      if (isCut && x - lastLabel > 64 && column.kind === kSteady) {
        const anchor = x > this.width - 50 ? "end" : "start";
        const at = {x: anchor === "end" ? x - 7 : x + 7, y: kMargin.top - 3, "text-anchor": anchor};
        group.append(svg("text", at, time(column.duration_ns)));
        lastLabel = x;
      }
    });
    return group;
  }

  private medianLine(): SVGElement {
    const y = this.y(this.steps.summary.median_ns);
    const right = this.width - kMargin.right;
    return svg("line", {class: "median", x1: kMargin.left, x2: right, y1: y, y2: y});
  }

  private selection(): SVGElement {
    const group = svg("g", {class: "selection"});
    if (!this.selected) return group;
    const {first, last} = this.selected;
    const from = this.columns.findIndex((column) => column.last >= first);
    const to = this.columns.findIndex((column) => column.last >= last);
    const left = this.x(from);
    const right = this.x(to + 1);
    const box = (x: number, width: number, name: string): SVGElement => svg(
      "rect", {class: name, x, width: Math.max(0, width), y: kMargin.top, height: this.plotHeight});
    group.append(
      box(kMargin.left, left - kMargin.left, "veil"),
      box(right, this.width - kMargin.right - right, "veil"),
      box(left, right - left, "outline"),
    );
    return group;
  }

  // --- reading and selecting -------------------------------------------------------------------

  private listen(): void {
    const canvas = this.canvas;
    canvas.addEventListener("pointermove", (event) => {
      const column = this.columnAt(event);
      if (this.dragFrom >= 0) this.selectColumns(this.dragFrom, column);
      this.moveCursor(column);
    });
    canvas.addEventListener("pointerleave", () => this.moveCursor(-1));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.button !== 0) return;
      this.dragFrom = this.columnAt(event);
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointerup", (event) => {
      if (this.dragFrom < 0) return;
      this.selectColumns(this.dragFrom, this.columnAt(event));
      this.dragFrom = -1;
      this.onSelect(this.selected);
    });
    canvas.addEventListener("pointercancel", () => (this.dragFrom = -1));
    canvas.addEventListener("dblclick", () => this.clear());
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.moveCursor(-1));
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") return this.clear();
    const last = this.columns.length - 1;
    const target: Record<string, number> = {
      ArrowLeft: Math.max(0, this.cursor - 1),
      ArrowRight: Math.min(last, this.cursor + 1),
      Home: 0,
      End: last,
    };
    const next = target[event.key];
    if (next === undefined) return;
    event.preventDefault();
    if (event.shiftKey) {
      if (this.keyFrom < 0) this.keyFrom = Math.max(0, this.cursor);
      this.selectColumns(this.keyFrom, next);
      this.onSelect(this.selected);
    } else {
      this.keyFrom = -1;
    }
    this.moveCursor(next);
  }

  private clear(): void {
    this.keyFrom = -1;
    this.selected = null;
    this.draw();
    this.onSelect(null);
  }

  private columnAt(event: PointerEvent): number {
    const offset = event.clientX - this.canvas.getBoundingClientRect().left - kMargin.left;
    const column = Math.floor((offset * this.columns.length) / this.plotWidth);
    return Math.min(this.columns.length - 1, Math.max(0, column));
  }

  private selectColumns(a: number, b: number): void {
    const first = this.columns[Math.min(a, b)].first;
    const last = this.columns[Math.max(a, b)].last;
    this.selected = {first, last};
    this.canvas.querySelector(".selection")?.replaceWith(this.selection());
  }

  private moveCursor(column: number): void {
    this.cursor = column;
    const mark = this.canvas.querySelector(".cursor");
    this.tip.classList.toggle("shown", column >= 0);
    if (column < 0 || !mark) {
      mark?.setAttribute("width", "0");
      return;
    }
    mark.setAttribute("x", String(this.x(column)));
    mark.setAttribute("width", String(this.x(column + 1) - this.x(column)));
    this.fillTip(this.columns[column]);
    const left = (this.x(column) + this.x(column + 1)) / 2;
    placeTip(this.tip, left, this.width);
  }

  private fillTip(column: ColumnBar): void {
    const {number: first, group} = this.steps;
    const from = first[column.first];
    const to = first[column.last] + group - 1;
    const kind = column.has_outlier ? "unusually long" : this.kindNames[column.kind];
    const title = from === to ? `Step ${from}` : `Steps ${from}–${to}, mean`;
    const rows = this.steps.phases.map(
      (phase, i) => h(
        "tr",
        {},
        h("td", {}, h("i", {class: "chip", style: `background:${this.color(i)}`}), phase.label),
        h("td", {}, time(column.phase_ns[i])),
        h("td", {}, percent(column.phase_ns[i], column.duration_ns)),
        ),
    );
    const longest =
      from === to ? null : h("div", {class: "muted"}, `longest ${time(column.longest_ns)}`);
    this.tip.replaceChildren(
      h("div", {class: "tip-title"}, h("b", {}, title), h("b", {}, time(column.duration_ns))),
      h("div", {class: "muted"}, kind),
      h("table", {}, ...rows),
      longest ?? "",
    );
  }
}
