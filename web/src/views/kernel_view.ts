// One kernel in one view: what bounds it and what to do, how near each part of the GPU came to its
// limit, its memory and occupancy, and where its warps waited, by reason and by line.
import type {PageData} from "../data";
import {h, labelledName} from "../dom";
import {fixed, numberText} from "../format";
import {kernelEntries, linesOf, measuredValue, reasonsOf, tableOf, textOf, valueAt} from "../kernel_parts";
import type {KernelEntry, Value} from "../kernel_parts";
import {Table} from "../table";
import {rooflineView} from "./roofline_view";
import {section} from "./section";

const kFirstLines = 12;
const kFewestPercent = 0.05;  // of a reason
const kLongestOption = 90;    // letters

// What each table says below its heading, by key of the column.
const kUse = ["compute", "memory", "tensor", "fma", "alu", "issue", "dram", "l2", "l1"];
const kMemory = [
  "dram_read", "dram_written", "dram_gbps", "l2_hit", "l1_hit", "sectors_per_load",
  "sectors_per_store", "bank_conflicts"
];
const kOccupancy = ["occupancy", "theoretical", "limiter", "waves", "tail", "registers", "shared"];
const kLaunch = ["time", "launches", "share", "clock_ghz", "spread", "rank", "device"];
const kRoofline = [
  "type", "tflops", "attainable_tflops", "attained", "roof", "dram_intensity", "l2_intensity",
  "l1_intensity", "counted"
];
const kWhere = ["operator", "module", "python_line", "inputs", "grid", "block"];

export function kernelView(page: PageData): HTMLElement|null {
  const entries = kernelEntries(page);
  if (entries.length === 0) {
    const ofStep = rooflineView(page, () => {});
    return ofStep && section("kernels", "How near the step is to its roofs", "", ofStep);
  }
  const box = h("div", {class: "kernel", role: "region"});
  const show = (place: number): void => {
    box.setAttribute("aria-label", page.strings[entries[place].kernel]);
    box.replaceChildren(...partsOf(page, entries[place]));
  };
  const picker = h("select", {},
    ...entries.map((entry, i) => h("option", {value: i}, optionText(page, entry, i))));
  picker.addEventListener("change", () => show(Number(picker.value)));
  show(0);
  const pick = (kernel: number): void => {
    const place = entries.findIndex(({measured}) => measured === kernel);
    if (place < 0) return;
    picker.value = String(place);
    show(place);
    picker.focus();
    picker.scrollIntoView({block: "nearest"});
  };
  return section(
    "kernels",
    "Why a kernel is slow",
    leadOf(page),
    rooflineView(page, pick),
    h("label", {class: "picker kernel-picker"}, "Kernel ", picker),
    box,
  );
}

function leadOf(page: PageData): string {
  const measured = tableOf(page, "kernel_limits")
    ? "Each kernel was measured by itself, in steps of the training. "
    : "";
  const sampled =
    tableOf(page, "stalls") ? "Instructions were sampled: shares are of the time of warps. " : "";
  return `${measured}${sampled}By falling time.`;
}

function optionText(page: PageData, entry: KernelEntry, place: number): string {
  const name = page.labels[entry.kernel] ?? page.strings[entry.kernel];
  const short = name.length > kLongestOption ? `${name.slice(0, kLongestOption)}…` : name;
  const share = entry.share === null ? "" : ` · ${fixed(entry.share, 1)} %`;
  const op = entry.op === null ? "" : ` · ${page.strings[entry.op]}`;
  return `${place + 1}. ${short}${share}${op}`;
}

function partsOf(page: PageData, entry: KernelEntry): HTMLElement[] {
  const name = labelledName(page.strings[entry.kernel], page.labels[entry.kernel]);
  const parts = [
    h("h3", {}, name),
    ...verdictOf(page, entry),
    facts(page, entry, "kernel_limits", kLaunch),
    where(page, entry),
    h("div", {class: "kernel-parts"},
      bars("Speed of light", kUse.map((key) => measuredValue(page, entry, "kernel_limits", key))),
      list("Memory", page, entry, "kernel_memory", kMemory),
      list("Occupancy", page, entry, "kernel_occupancy", kOccupancy),
      list("Roofline", page, entry, "kernel_roofline", kRoofline), waits(page, entry)),
    hotLines(page, entry),
  ];
  return parts.filter((part): part is HTMLElement => part !== null);
}

// What bounds it and what to do, of its counters and of its samples.
function verdictOf(page: PageData, entry: KernelEntry): HTMLElement[] {
  const text = (key: string): string =>
    textOf(page, measuredValue(page, entry, "kernel_limits", key));
  const percent = (key: string): string => {
    const value = measuredValue(page, entry, "kernel_limits", key);
    return value ? numberText(value.column, value.value) : "";
  };
  const bound = text("bound");
  const most = [["compute", "compute_limit"], ["memory", "memory_limit"]]
                 .filter(([key]) => percent(key) !== "")
                 .map(([key, by]) => `${key} ${percent(key)} (${text(by)})`)
                 .join(", ");
  const stalls = tableOf(page, "stalls");
  const advice = [
    text("advice"),
    textOf(page, measuredValue(page, entry, "kernel_roofline", "advice")),
  ];
  if (stalls && entry.sampled !== null) {
    advice.push(textOf(page, valueAt(stalls, "advice", entry.sampled)));
  }
  return [
    ...(bound || most ? [h("p", {class: "verdict"}, bound ? h("b", {}, `Bound by ${bound}`) : null,
                          bound && most ? ": " : "", most)]
                      : []),
    ...advice.filter((words) => words !== "")
      .map((words) => h("p", {class: "kernel-advice"}, words)),
  ];
}

function shownValue(page: PageData, {column, value}: Value): string {
  return column.type === "text" ? page.strings[value ?? 0] : numberText(column, value);
}

function measuredValues(
  page: PageData, entry: KernelEntry, table: string, keys: readonly string[]): Value[] {
  return keys.map((key) => measuredValue(page, entry, table, key))
    .filter((value): value is Value => value !== undefined && shownValue(page, value) !== "");
}

function facts(
  page: PageData, entry: KernelEntry, table: string, keys: readonly string[]): HTMLElement|null {
  const items = measuredValues(page, entry, table, keys)
                  .map((value) => h("div", {title: value.column.help},
                         h("dt", {}, value.column.name), h("dd", {}, shownValue(page, value))));
  return items.length === 0 ? null : h("dl", {class: "stats"}, ...items);
}

function where(page: PageData, entry: KernelEntry): HTMLElement|null {
  const items = measuredValues(page, entry, "kernel_limits", kWhere)
                  .flatMap((value) => [h("dt", {}, value.column.name),
                             h("dd", {}, h("code", {}, shownValue(page, value)))]);
  return items.length === 0 ? null : h("dl", {class: "facts"}, ...items);
}

// Shares of a whole, each with a bar.
function bars(title: string, values: (Value|undefined)[]): HTMLElement|null {
  const rows = values.flatMap(
    (one) => one === undefined ? [] : [h(
                                        "tr",
                                        {title: one.column.help},
                                        h("th", {scope: "row", class: "text"}, one.column.name),
                                        h("td", {class: "share", style: `--width:${widthOf(one)}%`},
                                          numberText(one.column, one.value)),
                                        )]);
  return rows.length === 0 ? null : table(title, rows);
}

function widthOf({value}: Value): string {
  return Math.max(0, Math.min(100, value ?? 0)).toFixed(2);
}

function list(title: string, page: PageData, entry: KernelEntry, of: string,
  keys: readonly string[]): HTMLElement|null {
  const rows = measuredValues(page, entry, of, keys)
                 .map((value) => h("tr", {title: value.column.help},
                        h("th", {scope: "row", class: "text"}, value.column.name),
                        h("td", {}, shownValue(page, value))));
  return rows.length === 0 ? null : table(title, rows);
}

function table(title: string, rows: HTMLElement[]): HTMLElement {
  return h("div", {}, h("h4", {}, title), h("table", {}, h("tbody", {}, ...rows)));
}

// By samples where there are some, else by the scheduler's counters.
function waits(page: PageData, entry: KernelEntry): HTMLElement|null {
  const sampled = bars("What warps wait for",
    reasonsOf(page, entry).filter(({value}) => (value ?? 0) >= kFewestPercent));
  if (sampled) return sampled;
  return list("What warps wait for", page, entry, "kernel_scheduler", ["issue_active", "stalls"]);
}

function hotLines(page: PageData, entry: KernelEntry): HTMLElement|null {
  const lines = linesOf(page, entry);
  if (!lines) return null;
  const shown = new Table(lines, page.strings, page.labels, {rows: kFirstLines, filter: false});
  return h("div", {class: "hot-lines"}, h("h4", {}, lines.title), shown.element);
}
