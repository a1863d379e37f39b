// How well the GPUs are used, each number with its formula, and their memory over time.
import type { Gpu, PageData } from "../data";
import { MemoryChart } from "../charts/memory_chart";
import { h } from "../dom";
import { bytes, count, time } from "../format";
import { section } from "./section";

export function gpuView(page: PageData): HTMLElement | null {
  const { utilization, memory } = page.gpu;
  if (utilization.length + memory.length === 0) return null;
  const lead = "Estimates from names and launch configurations of kernels, over the steps that count.";
  const charts = memory.map((curve) =>
    h(
      "div",
      { class: "memory" },
      h("h3", {}, curve.title),
      h("p", { class: "muted" }, `Peak ${bytes(curve.peak_bytes)} at ${time(curve.peak_ns)}, ${count(curve.allocations)} allocations`),
      new MemoryChart(curve).element,
    ),
  );
  return section("gpu", "The GPU", utilization.length > 0 ? lead : "", ...utilization.map(metrics), ...charts);
}

function metrics(gpu: Gpu["utilization"][0]): HTMLElement {
  const items = gpu.metrics.map(({ label, value, formula }) =>
    h("div", {}, h("dt", {}, label), h("dd", {}, value), h("dd", { class: "muted" }, formula)),
  );
  return h("div", {}, h("h3", {}, gpu.title), h("dl", { class: "stats wide" }, ...items));
}
