// GPU memory over time, by what it was first needed for, and what held it at the peak; or why there
// is nothing to show.
import type { MemoryCurve, PageData } from "../data";
import { StairChart } from "../charts/stair_chart";
import { h, longName } from "../dom";
import { bytes, count, percent, time } from "../format";
import { seriesColor } from "../palette";
import { section } from "./section";

const kColors: Record<string, number> = {
  model: 3,
  "optimizer state": 5,
  gradients: 4,
  input: 1,
  activations: 2,
  other: 0,
};

export function memoryView(page: PageData): HTMLElement | null {
  if (page.gpu.memory.length > 0) {
    const lead =
      "What the process asks of CUDA. PyTorch's caching allocator keeps blocks and uses them again: a block stays in the category that first needed it.";
    return section("memory", "GPU memory", lead, ...page.gpu.memory.flatMap(curve));
  }
  const why = page.gpu.worked
    ? "No allocations were recorded: record with --cuda-memory-usage=true to see GPU memory over time, by category, and what holds it at its peak."
    : "The recording holds no GPU work, and batchlight does not record memory of the CPU.";
  return section("memory", "GPU memory", why);
}

function curve(memory: MemoryCurve): HTMLElement[] {
  const layers = memory.layers.map((layer) => ({
    name: layer.name,
    color: seriesColor(kColors[layer.name] ?? 0),
    value: layer.bytes,
  }));
  const chart = new StairChart({
    label: `Memory over time, ${memory.title}: peak ${bytes(memory.peak_bytes)}`,
    yTitle: "memory",
    xTitle: "time in the recording",
    unit: "bytes",
    text: bytes,
    time_ns: memory.time_ns,
    value: memory.bytes,
    peak: memory.peak_bytes,
    peak_ns: memory.peak_ns,
    layers,
  });
  const peak = `Peak ${bytes(memory.peak_bytes)} at ${time(memory.peak_ns)}, ${count(memory.allocations)} allocations`;
  return [
    h("div", { class: "memory" }, h("h3", {}, memory.title), h("p", { class: "muted" }, peak), chart.element),
    h("div", { class: "scroll" }, categories(memory)),
    holders(memory),
  ];
}

function categories(memory: MemoryCurve): HTMLElement {
  const rows = memory.layers.map((layer) =>
    h(
      "tr",
      {},
      h(
        "th",
        { scope: "row", class: "text" },
        h("i", { class: "chip", style: `background:${seriesColor(kColors[layer.name] ?? 0)}` }),
        layer.name,
      ),
      h("td", { class: "real" }, bytes(layer.at_peak)),
      h("td", { class: "real" }, percent(layer.at_peak, memory.peak_bytes)),
      h("td", { class: "text muted" }, layer.rule),
    ),
  );
  const head = ["Category", "At the peak", "Share", "Rule that decided"].map((name, i) =>
    h("th", { scope: "col", class: i === 0 || i === 3 ? "text" : "real" }, name),
  );
  return h("table", { class: "categories" }, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows));
}

function holders(memory: MemoryCurve): HTMLElement {
  const rows = memory.holders.map((holder) =>
    h(
      "tr",
      {},
      h("th", { scope: "row", class: "text" }, holder.place ? longName(holder.place) : h("span", { class: "muted" }, "in no operator and no module")),
      h("td", { class: "text" }, holder.category),
      h("td", { class: "integer" }, count(holder.blocks)),
      h("td", { class: "real" }, bytes(holder.bytes)),
      h("td", { class: "real" }, percent(holder.bytes, memory.peak_bytes)),
    ),
  );
  const head = ["Allocated in", "Category", "Blocks", "Held", "Share"].map((name, i) =>
    h("th", { scope: "col", class: i < 2 ? "text" : "real" }, name),
  );
  return h(
    "details",
    { class: "help" },
    h("summary", {}, "What was alive at the peak"),
    h("div", { class: "scroll" }, h("table", {}, h("thead", {}, h("tr", {}, ...head)), h("tbody", {}, ...rows))),
  );
}
