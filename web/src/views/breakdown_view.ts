// What a step is made of: a stacked bar, a ring, and the same as a table that adds up and whose
// rows open to the events behind them.
import {donut} from "../charts/donut";
import type {PageData, PhaseInfo, Steps} from "../data";
import {h, longText} from "../dom";
import {percent, time} from "../format";
import {seriesColor, seriesNumbers} from "../palette";
import type {Aggregate, Range} from "../selection";
import {phaseEventsView} from "./phase_events_view";

const kHead = ["Phase", "Of the mean", "Mean", "Median", "p95"];

// `opened`: the rows that are open, kept by the caller from one selection to the next.
export function breakdown(
  page: PageData,
  steps: Steps,
  range: Range|null,
  numbers: Aggregate,
  opened: Set<string>,
  ): Node[] {
  const {phases} = steps;
  const series = seriesNumbers(phases.map((phase) => phase.key));
  const fills = series.map((number, i) => seriesColor(number, phases[i].idle !== undefined));
  const colors = fills.map((fill) => `background-color:${fill}`);
  const head =
    kHead.map((name, i) => h("th", {scope: "col", class: i === 0 ? "text" : "real"}, name));
  const rows = phases.flatMap((phase, i) => {
    const events = steps.events ? () : Node[] => phaseEventsView(page, steps, i, range): null;
    return phaseRows(phase, i, numbers, colors[i], events, opened);
  });
  const table = h(
    "table",
    {},
    h("thead", {}, h("tr", {}, ...head)),
    h("tbody", {}, ...rows),
    h("tfoot", {}, totalRow(numbers)),
  );
  return [
    stack(phases, numbers, colors),
    h("div", {class: "with-donut"}, h("div", {class: "scroll"}, table),
      ring(phases, numbers, fills)),
    h("p", {class: "muted"},
      "Means add up to the mean step; medians and percentiles need not. A row opens to the events behind it."),
    ...help(phases),
  ];
}

function stack(phases: PhaseInfo[], numbers: Aggregate, colors: string[]): HTMLElement {
  const words = phases.map(
    (phase, i) => `${phase.label} ${percent(numbers.phase_mean_ns[i], numbers.mean_ns)}`,
  );
  const parts = phases.map((phase, i) => {
    const share = (100 * numbers.phase_mean_ns[i]) / numbers.mean_ns;
    // A letter takes about a percent of the width on a screen, two and a half on a phone.
    const fits = share > phase.label.length;
    const fitsPhone = share > 2.5 * phase.label.length;
    const label = fits ? h("span", {class: fitsPhone ? "" : "wide-only"}, phase.label) : null;
    const title = `${phase.label}: ${time(numbers.phase_mean_ns[i])}`;
    const idle = phase.idle ? "idle" : "";
    return h("div", {class: idle, style: `flex-grow:${share};${colors[i]}`, title}, label);
  });
  return h(
    "div", {class: "stack", role: "img", "aria-label": `A step is ${words.join(", ")}.`}, ...parts);
}

function ring(phases: PhaseInfo[], numbers: Aggregate, fills: string[]): SVGSVGElement {
  const slices = phases.map((phase, i) => ({
    label: `${phase.label} ${percent(numbers.phase_mean_ns[i], numbers.mean_ns)}`,
    share: numbers.phase_mean_ns[i] / numbers.mean_ns,
    color: fills[i],
  }));
  return donut(slices, time(numbers.mean_ns), "mean step");
}

// The row of a phase and, where it is open, the row with its events.
function phaseRows(
  phase: PhaseInfo,
  i: number,
  numbers: Aggregate,
  color: string,
  events: (() => Node[])|null,
  opened: Set<string>,
  ): HTMLElement[] {
  const share = (100 * numbers.phase_mean_ns[i]) / numbers.mean_ns;
  const label = h("span", {class: "tree-label"},
    h("i", {class: phase.idle ? "chip idle" : "chip", style: color}), longText(phase.label));
  const id = `events-of-phase-${i}`;
  const toggle = events
    ? h("button", {type: "button", class: "opener", "aria-controls": id, title: "Events behind it"},
        label)
    : label;
  const row = h(
    "tr",
    {},
    h("th", {scope: "row"}, toggle),
    h("td", {class: "real share", style: `--width:${share.toFixed(2)}%`}, percent(share, 100)),
    h("td", {class: "real"}, time(numbers.phase_mean_ns[i])),
    h("td", {class: "real"}, time(numbers.phase_median_ns[i])),
    h("td", {class: "real"}, numbers.has_percentiles ? time(numbers.phase_p95_ns[i]) : "–"),
  );
  if (!events) return [row];
  const cell = h("td", {colspan: kHead.length});
  const below = h("tr", {class: "events", id}, cell);
  const show = (open: boolean): void => {
    toggle.setAttribute("aria-expanded", String(open));
    below.hidden = !open;
    cell.replaceChildren(...(open ? events() : []));
  };
  toggle.addEventListener("click", () => {
    const open = !opened.delete(phase.label);
    if (open) opened.add(phase.label);
    show(open);
  });
  show(opened.has(phase.label));
  return [row, below];
}

function totalRow(numbers: Aggregate): HTMLElement {
  return h(
    "tr",
    {class: "total"},
    h("th", {scope: "row"}, "Step"),
    h("td", {class: "real"}, "100.0 %"),
    h("td", {class: "real"}, time(numbers.mean_ns)),
    h("td", {class: "real"}, time(numbers.median_ns)),
    h("td", {class: "real"}, numbers.has_percentiles ? time(numbers.p95_ns) : "–"),
  );
}

function help(phases: PhaseInfo[]): HTMLElement[] {
  const helped = phases.filter((phase) => phase.help !== "");
  if (helped.length === 0) return [];
  const terms = helped.flatMap((phase) => [h("dt", {}, phase.label), h("dd", {}, phase.help)]);
  return [h(
    "details", {class: "help"}, h("summary", {}, "What the parts mean"), h("dl", {}, ...terms))];
}
