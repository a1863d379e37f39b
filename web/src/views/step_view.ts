// The answer of the page: how long a step takes, what it is made of, and the steps one by one.
// Selecting steps in the chart computes the first two again for them.
import type { PageData, Steps } from "../data";
import { StepChart } from "../charts/step_chart";
import { h, longText } from "../dom";
import { count, percent, time } from "../format";
import { seriesColor, seriesNumbers } from "../palette";
import { aggregate, largestPhase } from "../selection";
import type { Aggregate, Range } from "../selection";
import { section } from "./section";

export class StepView {
  readonly sections: HTMLElement[];
  private readonly hero = h("div", { class: "hero" });
  private readonly breakdown = h("div", { class: "breakdown" });
  private readonly chartBox = h("div");
  private steps: Steps;
  private chart: StepChart | null = null;
  private range: Range | null = null;

  constructor(private readonly page: PageData) {
    this.steps = page.steps[0];
    const lead = "Every moment of a step belongs to one phase, so the phases add up to the step.";
    this.sections = [
      h("section", { id: "overview", "aria-label": "Overview" }, this.processPicker(), this.hero),
      ...(this.steps.phases.length > 0
        ? [section("phases", "Where a step goes", lead, this.breakdown)]
        : []),
      section("steps", "Step by step", this.chartLead(), this.chartBox, this.rangeForm()),
    ];
    this.show(this.steps);
  }

  private chartLead(): string {
    const select = "Drag over the chart to see the numbers above for those steps only.";
    return `${this.page.steps_found} ${select}`;
  }

  private processPicker(): HTMLElement | null {
    if (this.page.steps.length < 2) return null;
    const options = this.page.steps.map((steps, i) => h("option", { value: i }, steps.process));
    const picker = h("select", {}, ...options);
    picker.addEventListener("change", () => this.show(this.page.steps[Number(picker.value)]));
    return h("label", { class: "picker" }, "Process ", picker);
  }

  private show(steps: Steps): void {
    this.steps = steps;
    this.range = null;
    this.chart = new StepChart(steps, this.page.step_kinds, (range) => this.select(range));
    this.chartBox.replaceChildren(this.chart.element);
    this.draw();
  }

  private select(range: Range | null): void {
    this.range = range;
    this.draw();
  }

  private draw(): void {
    const numbers = aggregate(this.steps, this.range);
    this.drawHero(numbers);
    this.drawBreakdown(numbers);
    this.drawRangeForm();
  }

  private drawHero(numbers: Aggregate): void {
    const largest = largestPhase(numbers);
    const phase = largest < 0 ? null : this.steps.phases[largest];
    const share = phase ? percent(numbers.phase_mean_ns[largest], numbers.mean_ns) : "";
    const [value, unit] = time(numbers.median_ns).split(" ");
    const sentence = phase
      ? h("p", { class: "verdict" }, h("b", {}, share), " of it is ", h("b", {}, phase.label), ".")
      : null;
    const apart =
      numbers.set_apart > 0 ? `${count(numbers.set_apart)} set apart (warm-up and the like)` : "";
    this.hero.replaceChildren(
      h(
        "div",
        { class: "headline" },
        h("div", { class: "label" }, "A step takes"),
        h("div", { class: "big" }, value, h("small", {}, unit)),
        sentence,
        this.scope(numbers),
      ),
      h(
        "dl",
        { class: "stats" },
        stat("p5 – p95", `${time(numbers.p5_ns)} – ${time(numbers.p95_ns)}`, "nine of ten steps"),
        stat("Longest", time(numbers.longest_ns), `step ${numbers.longest_step}`),
        stat("Rate", `${rate(numbers.mean_ns)}`, `mean step ${time(numbers.mean_ns)}`),
        stat("Steps", count(numbers.count), apart || "all of them count"),
      ),
    );
  }

  private scope(numbers: Aggregate): HTMLElement {
    if (!this.range) return h("p", { class: "scope" }, `median of ${count(numbers.count)} steps`);
    const all = h("button", { type: "button", class: "quiet" }, "All steps");
    all.addEventListener("click", () => this.clearSelection());
    return h("p", { class: "scope" }, h("mark", {}, numbers.label), " ", all);
  }

  private clearSelection(): void {
    this.chart?.select(null);
    this.select(null);
  }

  private drawBreakdown(numbers: Aggregate): void {
    const { phases } = this.steps;
    const series = seriesNumbers(phases.map((phase) => phase.key));
    const color = (phase: number): string => `background:${seriesColor(series[phase])}`;
    const whole = numbers.mean_ns;
    const bar = h(
      "div",
      { class: "stack", role: "img", "aria-label": this.breakdownInWords(numbers) },
      ...phases.map((phase, i) => {
        const share = (100 * numbers.phase_mean_ns[i]) / whole;
        const fits = share > phase.label.length;
        const fitsPhone = share > 2.5 * phase.label.length;
        const label = fits ? h("span", { class: fitsPhone ? "" : "wide-only" }, phase.label) : null;
        const title = `${phase.label}: ${time(numbers.phase_mean_ns[i])}`;
        return h("div", { style: `flex-grow:${share};${color(i)}`, title }, label);
      }),
    );
    const head = ["Phase", "Share", "Mean", "Median", "p95"].map((name, i) =>
      h("th", { scope: "col", class: i === 0 ? "text" : "real" }, name),
    );
    const rows = phases.map((phase, i) => {
      const share = (100 * numbers.phase_mean_ns[i]) / whole;
      return h(
        "tr",
        {},
        h("th", { scope: "row" }, h("div", { class: "tree-label" }, h("i", { class: "chip", style: color(i) }), longText(phase.label))),
        h("td", { class: "real share", style: `--width:${share.toFixed(2)}%` }, percent(share, 100)),
        h("td", { class: "real" }, time(numbers.phase_mean_ns[i])),
        h("td", { class: "real" }, time(numbers.phase_median_ns[i])),
        h("td", { class: "real" }, time(numbers.phase_p95_ns[i])),
      );
    });
    const total = h(
      "tr",
      { class: "total" },
      h("th", { scope: "row" }, "Step"),
      h("td", { class: "real" }, "100.0 %"),
      h("td", { class: "real" }, time(whole)),
      h("td", { class: "real" }, time(numbers.median_ns)),
      h("td", { class: "real" }, time(numbers.p95_ns)),
    );
    const note = "Means add up to the mean step; medians and percentiles need not.";
    this.breakdown.replaceChildren(
      bar,
      h(
        "div",
        { class: "scroll" },
        h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows), h("tfoot", {}, total)),
      ),
      h("p", { class: "muted" }, note),
    );
  }

  private breakdownInWords(numbers: Aggregate): string {
    const parts = this.steps.phases.map(
      (phase, i) => `${phase.label} ${percent(numbers.phase_mean_ns[i], numbers.mean_ns)}`,
    );
    return `A step is ${parts.join(", ")}.`;
  }

  // --- the same selection without a pointer ----------------------------------------------------

  private readonly from = h("input", { type: "number", "aria-label": "First step", step: 1 });
  private readonly to = h("input", { type: "number", "aria-label": "Last step", step: 1 });

  private rangeForm(): HTMLElement {
    const change = (): void => this.selectNumbers(Number(this.from.value), Number(this.to.value));
    this.from.addEventListener("change", change);
    this.to.addEventListener("change", change);
    return h("div", { class: "range-form" }, "Steps ", this.from, " to ", this.to);
  }

  private drawRangeForm(): void {
    const { number, group } = this.steps;
    const last = number.length - 1;
    const range = this.range ?? { first: 0, last };
    this.from.value = String(number[range.first]);
    this.to.value = String(number[range.last] + group - 1);
    for (const input of [this.from, this.to]) {
      input.min = String(number[0]);
      input.max = String(number[last] + group - 1);
    }
  }

  private selectNumbers(first: number, last: number): void {
    const { number } = this.steps;
    const [low, high] = [Math.min(first, last), Math.max(first, last)];
    const from = Math.max(0, number.findIndex((_, i) => (number[i + 1] ?? Infinity) > low));
    let to = from;
    while (to + 1 < number.length && number[to + 1] <= high) ++to;
    const range = { first: from, last: to };
    this.chart?.select(range);
    this.select(range);
  }
}

function stat(label: string, value: string, note: string): HTMLElement {
  return h("div", {}, h("dt", {}, label), h("dd", {}, value), h("dd", { class: "muted" }, note));
}

function rate(mean_ns: number): string {
  const perSecond = 1e9 / mean_ns;
  if (perSecond >= 1) return `${perSecond >= 100 ? count(perSecond) : perSecond.toPrecision(3)} steps/s`;
  return `${(60 * perSecond).toPrecision(3)} steps/min`;
}
