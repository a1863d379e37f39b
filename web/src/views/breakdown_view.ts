// What a step is made of: a stacked bar, a ring, and the same as a table that adds up.
import { donut } from "../charts/donut";
import type { PhaseInfo } from "../data";
import { h, longText } from "../dom";
import { percent, time } from "../format";
import { seriesColor, seriesNumbers } from "../palette";
import type { Aggregate } from "../selection";

const kHead = ["Phase", "Share", "Mean", "Median", "p95"];

export function breakdown(phases: PhaseInfo[], numbers: Aggregate): Node[] {
  const series = seriesNumbers(phases.map((phase) => phase.key));
  const colors = series.map((number) => `background:${seriesColor(number)}`);
  const head = kHead.map((name, i) => h("th", { scope: "col", class: i === 0 ? "text" : "real" }, name));
  const rows = phases.map((phase, i) => phaseRow(phase, i, numbers, colors[i]));
  const table = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
    h("tfoot", {}, totalRow(numbers)),
  );
  return [
    stack(phases, numbers, colors),
    h("div", { class: "with-donut" }, h("div", { class: "scroll" }, table), ring(phases, numbers, series)),
    h("p", { class: "muted" }, "Means add up to the mean step; medians and percentiles need not."),
    ...help(phases),
  ];
}

function stack(phases: PhaseInfo[], numbers: Aggregate, colors: string[]): HTMLElement {
  const words = phases.map(
    (phase, i) => `${phase.label} ${percent(numbers.phase_mean_ns[i], numbers.mean_ns)}`,
  );
  const parts = phases.map((phase, i) => {
    const share = (100 * numbers.phase_mean_ns[i]) / numbers.mean_ns;
    // About a percent of the width per letter on a screen, two and a half on a phone.
    const fits = share > phase.label.length;
    const fitsPhone = share > 2.5 * phase.label.length;
    const label = fits ? h("span", { class: fitsPhone ? "" : "wide-only" }, phase.label) : null;
    const title = `${phase.label}: ${time(numbers.phase_mean_ns[i])}`;
    return h("div", { style: `flex-grow:${share};${colors[i]}`, title }, label);
  });
  return h("div", { class: "stack", role: "img", "aria-label": `A step is ${words.join(", ")}.` }, ...parts);
}

function ring(phases: PhaseInfo[], numbers: Aggregate, series: number[]): SVGSVGElement {
  const slices = phases.map((phase, i) => ({
    label: `${phase.label} ${percent(numbers.phase_mean_ns[i], numbers.mean_ns)}`,
    share: numbers.phase_mean_ns[i] / numbers.mean_ns,
    color: seriesColor(series[i]),
  }));
  return donut(slices, time(numbers.mean_ns), "mean step");
}

function phaseRow(phase: PhaseInfo, i: number, numbers: Aggregate, color: string): HTMLElement {
  const share = (100 * numbers.phase_mean_ns[i]) / numbers.mean_ns;
  const chip = h("i", { class: "chip", style: color });
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, h("div", { class: "tree-label" }, chip, longText(phase.label))),
    h("td", { class: "real share", style: `--width:${share.toFixed(2)}%` }, percent(share, 100)),
    h("td", { class: "real" }, time(numbers.phase_mean_ns[i])),
    h("td", { class: "real" }, time(numbers.phase_median_ns[i])),
    h("td", { class: "real" }, time(numbers.phase_p95_ns[i])),
  );
}

function totalRow(numbers: Aggregate): HTMLElement {
  return h(
    "tr",
    { class: "total" },
    h("th", { scope: "row" }, "Step"),
    h("td", { class: "real" }, "100.0 %"),
    h("td", { class: "real" }, time(numbers.mean_ns)),
    h("td", { class: "real" }, time(numbers.median_ns)),
    h("td", { class: "real" }, time(numbers.p95_ns)),
  );
}

function help(phases: PhaseInfo[]): HTMLElement[] {
  const helped = phases.filter((phase) => phase.help !== "");
  if (helped.length === 0) return [];
  const terms = helped.flatMap((phase) => [h("dt", {}, phase.label), h("dd", {}, phase.help)]);
  return [h("details", { class: "help" }, h("summary", {}, "What the parts mean"), h("dl", {}, ...terms))];
}
