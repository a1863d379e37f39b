// GPU memory over time, by what it was first needed for, and what held it at the peak. With steps
// selected, shows their time and their peak.
import type {MemoryCurve, PageData} from "../data";
import {StairChart} from "../charts/stair_chart";
import type {Stairs} from "../charts/stair_chart";
import {h, longName} from "../dom";
import {bytes, count, percent, time} from "../format";
import {memorySpan} from "../memory_span";
import type {MemorySpan} from "../memory_span";
import {seriesColor} from "../palette";
import {choice} from "./choice";
import {memoryScopeOf} from "./bin_scope";
import {section} from "./section";
import type {StepRange} from "../step_bins";

const kColors: Record<string, number> = {
  model: 3,
  optimizer_state: 5,
  gradients: 4,
  input: 1,
  activations: 2,
  other: 0,
};

export class MemoryView {
  readonly element: HTMLElement|null = null;
  private readonly scope = h("p", {class: "muted"});
  private readonly picker = h("div");
  private readonly box = h("div");
  private whole = false;  // the whole run is drawn although steps are selected

  constructor(private readonly page: PageData) {
    if (page.gpu.memory.length === 0) return;
    const lead =
      "What the process asks of CUDA. PyTorch's caching allocator keeps blocks and uses them again: a block stays in the category that first needed it.";
    this.element = section("memory", "GPU memory", lead, this.scope, this.picker, this.box);
    this.show(null, "");
  }

  show(range: StepRange, label: string): void {
    const {memory} = this.page.gpu;
    if (memory.length === 0) return;
    this.scope.replaceChildren(...memoryScopeOf(this.page, range, label));
    const buttons =
      choice("Time", ["Selected steps", "Whole run"], this.whole ? 1 : 0, (chosen) => {
        this.whole = chosen === 1;
        this.draw(range);
      });
    this.picker.replaceChildren(...(range && buttons ? [buttons] : []));
    this.draw(range);
  }

  private draw(range: StepRange): void {
    const starts = this.page.bin_starts;
    const parts = this.page.gpu.memory.flatMap((memory) => {
      const span = memorySpan(memory, starts, range);
      return range && !span ? [noSteps(memory)] : curve(memory, span, this.whole);
    });
    this.box.replaceChildren(...parts);
  }
}

function noSteps(memory: MemoryCurve): HTMLElement {
  return h("div", {}, h("h3", {}, memory.title),
    h("p", {class: "muted"}, "This process had no steps then."));
}

function curve(memory: MemoryCurve, span: MemorySpan|null, whole: boolean): HTMLElement[] {
  const peak = peakOf(memory, span);
  const where = span ? "in these steps, " : "";
  const words = `Peak ${bytes(peak.bytes)} ${where}at ${time(peak.ns)}, ${
    count(span?.allocations ?? memory.allocations)} allocations`;
  const thin =
    span && !whole && memory.thinned ? ". Not every change is drawn, but the peak is" : "";
  const chart = span && !whole ? zoomed(memory, span) : overRun(memory, span);
  return [
    h("div", {class: "memory"}, h("h3", {}, memory.title), h("p", {class: "muted"}, words, thin),
      chart.element),
    h("div", {class: "scroll"}, categories(memory, span)),
    holders(memory, span !== null),
  ];
}

function peakOf(memory: MemoryCurve, span: MemorySpan|null): {bytes: number; ns: number} {
  if (!span) return {bytes: memory.peak_bytes, ns: memory.peak_ns};
  if (span.peak < 0) return {bytes: 0, ns: span.from_ns};
  return {bytes: memory.bytes[span.peak], ns: Math.max(span.from_ns, memory.time_ns[span.peak])};
}

function overRun(memory: MemoryCurve, span: MemorySpan|null): StairChart {
  return new StairChart({
    label: `Memory over time, ${memory.title}: peak ${bytes(memory.peak_bytes)}`,
    yTitle: "memory",
    xTitle: "time in the recording",
    unit: "bytes",
    text: bytes,
    time_ns: memory.time_ns,
    value: memory.bytes,
    peak: memory.peak_bytes,
    peak_ns: memory.peak_ns,
    layers: layersOf(memory, (values) => values),
    mark: span && {from_ns: span.from_ns, to_ns: span.to_ns},
  });
}

// From the start of the first step to the end of the last.
function zoomed(memory: MemoryCurve, span: MemorySpan): StairChart {
  const during = (values: readonly number[]): number[] => {
    const inside = span.points.map((point) => values[point]);
    const first =
      span.points.length > 0 && memory.time_ns[span.points[0]] <= span.from_ns ? [] : [0];
    return [...first, ...inside, inside[inside.length - 1] ?? 0];
  };
  const times = span.points.map((point) => Math.max(0, memory.time_ns[point] - span.from_ns));
  const before = times[0] === 0 ? [] : [0];
  const peak = peakOf(memory, span);
  return new StairChart({
    label: `Memory over the steps that are selected, ${memory.title}: peak ${bytes(peak.bytes)}`,
    yTitle: "memory",
    xTitle: "time since the first of these steps began",
    unit: "bytes",
    text: bytes,
    time_ns: [...before, ...times, span.to_ns - span.from_ns],
    value: during(memory.bytes),
    peak: peak.bytes,
    peak_ns: peak.ns - span.from_ns,
    layers: layersOf(memory, during),
  });
}

function layersOf(
  memory: MemoryCurve, part: (values: readonly number[]) => readonly number[]): Stairs["layers"] {
  return memory.layers.map((layer) => ({
    name: layer.name,
    color: seriesColor(kColors[layer.key] ?? 0),
    value: part(layer.bytes),
  }));
}

function categories(memory: MemoryCurve, span: MemorySpan|null): HTMLElement {
  const peak = peakOf(memory, span).bytes;
  const rows = memory.layers.map((layer) => {
    const held = span ? (layer.bytes[span.peak] ?? 0) : layer.at_peak;
    return h(
      "tr",
      {},
      h(
        "th",
        {scope: "row", class: "text"},
        h("i", {class: "chip", style: `background:${seriesColor(kColors[layer.key] ?? 0)}`}),
        layer.name,
        ),
      h("td", {class: "real"}, bytes(held)),
      h("td", {class: "real"}, percent(held, peak)),
      h("td", {class: "text muted"}, layer.rule),
    );
  });
  const head = ["Category", "At the peak", "Share", "Rule that decided"].map(
    (name, i) => h("th", {scope: "col", class: i === 0 || i === 3 ? "text" : "real"}, name),
  );
  return h(
    "table", {class: "categories"}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows));
}

function holders(memory: MemoryCurve, selected: boolean): HTMLElement {
  const rows = memory.holders.map(
    (holder) => h(
      "tr",
      {},
      h("th", {scope: "row", class: "text"},
        holder.place ? longName(holder.place)
                     : h("span", {class: "muted"}, "in no operator and no module")),
      h("td", {class: "text"}, holder.category),
      h("td", {class: "integer"}, count(holder.blocks)),
      h("td", {class: "real"}, bytes(holder.bytes)),
      h("td", {class: "real"}, percent(holder.bytes, memory.peak_bytes)),
      ),
  );
  const head = ["Allocated in", "Category", "Blocks", "Held", "Share"].map(
    (name, i) => h("th", {scope: "col", class: i < 2 ? "text" : "real"}, name),
  );
  return h(
    "details",
    {class: "help"},
    h("summary", {},
      selected ? "What was alive at the peak of the whole run" : "What was alive at the peak"),
    h("div", {class: "scroll"},
      h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))),
  );
}
