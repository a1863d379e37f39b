// The measured roofline: the chart, what its signs mean, and in words what is not in it.
import {markerPath, shapeOf} from "../charts/roofline_layout";
import type {Shape} from "../charts/roofline_layout";
import {RooflineChart} from "../charts/roofline_chart";
import type {PageData} from "../data";
import {h, svg} from "../dom";
import {fixed, plural} from "../format";
import {tableOf} from "../kernel_parts";
import {kernelName, rooflines} from "../roofline";
import type {Counted, Dot, Roofline} from "../roofline";
import {Table} from "../table";
import {chosenPart, rowCount} from "../table_sums";
import {choice} from "./choice";

const kNamed = 3;  // of kernels that are not in the chart
const kFirstRows = 12;
const kColumns = [
  "kernel", "measured_kernel", "share", "type", "tflops", "attainable_tflops", "attained", "roof",
  "dram_intensity", "l2_intensity", "l1_intensity", "counted"
];
const kSigns: [Shape, string][] = [
  ["circle", "under the peak of its type"],
  ["triangle", "under the bandwidth of DRAM"],
  ["diamond", "under that of L2"],
  ["square", "under that of L1"],
  ["star", "the whole step"],
];

// null: no operations were counted. onPick: the number of a kernel that was chosen.
export function rooflineView(page: PageData, onPick: (kernel: number) => void): HTMLElement|null {
  const all = rooflines(page);
  if (all.length === 0) return null;
  const box = h("div", {class: "roofline-part"});
  const show = (place: number): void => box.replaceChildren(...partsOf(page, all[place], onPick));
  show(0);
  const level =
    choice("Level of memory of the roofline", all.map(({level: {name}}) => name), 0, show);
  return h("div", {class: "roofline", role: "region", "aria-label": "Roofline"},
    h("h3", {}, "Roofline, measured"), h("p", {class: "muted"}, leadOf(all[0])),
    level && h("div", {class: "roofline-level"}, h("span", {class: "muted"}, "Bytes of"), level),
    box, asTable(page));
}

function leadOf({dots}: Roofline): string {
  if (dots.every(({number}) => number === null)) {
    return "What the step does, and what it could do at most: the lowest roof above it.";
  }
  return "What each kernel does, and what it could do at most with that many operations a byte: the " +
    "lowest roof above it. Dots are as large as their share of the time; their numbers are those of " +
    "the kernels below.";
}

function partsOf(page: PageData, of: Roofline, onPick: (kernel: number) => void): HTMLElement[] {
  const chart = new RooflineChart(of, (dot) => kernelName(page, dot), ({number}) => {
    if (number !== null) onPick(number);
  });
  return [
    legend(of.dots), chart.element,
    h("ul", {class: "roofline-words"}, ...wordsOf(page, of).map((words) => h("li", {}, words)))
  ];
}

function sign(shape: Shape, hollow: boolean): SVGElement {
  const d = markerPath(shape, 9, shape === "triangle" ? 10.5 : 9, 5.2);
  return svg("svg", {class: "sign", width: 18, height: 18, "aria-hidden": "true"},
    svg("path", {class: `dot by-${shape}${hollow ? " at-most" : ""}`, d}));
}

function legend(dots: readonly Dot[]): HTMLElement {
  const shown = new Set(dots.map(shapeOf));
  const items = kSigns.filter(([shape]) => shown.has(shape)).map(([shape,
    text]) => h("span", {}, sign(shape, false), text));
  if (dots.some(({atMost}) => atMost)) {
    items.push(h("span", {}, sign("circle", true), "hollow: at most that many operations"));
  }
  return h("div", {class: "legend"}, ...items);
}

// --- what the chart does not show ----------------------------------------------------------------

function wordsOf(page: PageData, of: Roofline): string[] {
  const {level, idle, local, uncounted, clocks, bandwidth} = of;
  const words = [
    group(page, idle, `without operations, ${idle.length === 1 ? "it moves" : "they move"} bytes`,
      ({attained, roof}) => attained === null ? "" : `, ${fixed(attained, 0)} % of ${roof}`),
    group(page, local, `with operations, but without a byte of ${level.name}`, () => ""),
  ].filter((text) => text !== "");
  if (uncounted.kernels > 0) {
    words.push(`Not in the picture: ${plural(uncounted.kernels, "kernel")} whose operations were ` +
      `not counted, with ${fixed(uncounted.share, 1)} % of the time.`);
  }
  if (!bandwidth) words.push(`The bandwidth of ${level.name} of this GPU is not known.`);
  return clocks ? [...words, clockWords(clocks)] : words;
}

function group(page: PageData, kernels: readonly Counted[], what: string,
  note: (kernel: Counted) => string): string {
  if (kernels.length === 0) return "";
  const share = kernels.reduce((sum, kernel) => sum + (kernel.share ?? 0), 0);
  const named = kernels.slice(0, kNamed).map(
    (kernel) => `${kernelName(page, kernel)} (${kernel.number}${note(kernel)})`);
  const more = kernels.length > kNamed ? `, and ${kernels.length - kNamed} more in the table` : "";
  return `Not in the picture: ${plural(kernels.length, "kernel")} ${what}, with ${
    fixed(share, 1)} % of the time: ${named.join(", ")}${more}.`;
}

function clockWords([lowest, highest]: [number, number]): string {
  const [low, high] = [fixed(lowest, 2), fixed(highest, 2)];
  if (low === high) return `Roofs are at ${high} GHz, the clock of the measurement.`;
  return `The multiprocessors ran at ${low} to ${high} GHz. Each roof is drawn as the highest of ` +
    "these allows; what a kernel attains is by its own.";
}

// --- as a table ----------------------------------------------------------------------------------

function asTable(page: PageData): HTMLElement|null {
  const table = tableOf(page, "kernel_roofline");
  if (!table || rowCount(table) === 0) return null;
  const details = h("details", {}, h("summary", {}, "As a table"));
  details.addEventListener("toggle", () => {
    if (!details.open || details.children.length > 1) return;
    const rows = Array.from({length: rowCount(table)}, (_, row) => row);
    const part = chosenPart(table, kColumns, rows);
    details.append(
      new Table(part, page.strings, page.labels, {rows: kFirstRows, filter: false}).element);
  });
  return details;
}
