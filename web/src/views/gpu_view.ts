// How well the GPUs are used, each number with its formula, and how far they are behind the CPU.
import type { LaunchQueue, Metric, PageData } from "../data";
import { StairChart } from "../charts/stair_chart";
import { h } from "../dom";
import { count } from "../format";
import { maximum } from "../statistics";
import { section } from "./section";

export function gpuView(page: PageData): HTMLElement | null {
  const { utilization, queues } = page.gpu;
  if (utilization.length + queues.length === 0) return null;
  const lead = "Estimates from names and launch configurations of kernels, over the steps that count.";
  return section(
    "gpu",
    "The GPU",
    utilization.length > 0 ? lead : "",
    ...utilization.map(({ title, metrics }) => metricsOf(title, metrics)),
    ...queues.map(queue),
  );
}

function queue(queue: LaunchQueue): HTMLElement {
  const most = maximum(queue.depth);
  const chart = new StairChart({
    label: `Launches that wait over step ${queue.step}, at most ${count(most)}`,
    yTitle: "launched, not started",
    xTitle: `time in step ${queue.step}, a step of median length`,
    unit: "",
    text: (depth) => `${count(depth)} waiting`,
    time_ns: queue.time_ns,
    value: queue.depth,
    peak: most,
    peak_ns: null,
    layers: [],
  });
  return h(
    "div",
    { class: "queue" },
    metricsOf(`Launch queue of ${queue.title}`, queue.metrics),
    chart.element,
    h("p", { class: "muted" }, "Where the queue is empty and the GPU idle, the CPU launches too slowly; where it is deep, the GPU is the limit."),
  );
}

function metricsOf(title: string, metrics: Metric[]): HTMLElement {
  const items = metrics.map(({ label, value, formula }) =>
    h("div", {}, h("dt", {}, label), h("dd", {}, value), h("dd", { class: "muted" }, formula)),
  );
  return h("div", {}, h("h3", {}, title), h("dl", { class: "stats wide" }, ...items));
}
