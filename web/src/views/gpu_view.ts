// How well the GPUs are used, each number with its formula, and how far they run behind the CPU,
// over the selected steps.
import type {LaunchQueue, Metric, PageData, Parts, QueueDepth, Utilization} from "../data";
import {StairChart} from "../charts/stair_chart";
import {h} from "../dom";
import {count, significant} from "../format";
import {shownMetrics} from "../metrics";
import {depthTimes, queueCurve} from "../queue_curve";
import {aggregate} from "../selection";
import {binScope} from "../step_bins";
import type {StepRange} from "../step_bins";
import {partsOver} from "../sums";
import type {PickedParts} from "../sums";
import {binScopeOf} from "./bin_scope";
import {section} from "./section";

export class GpuView {
  readonly element: HTMLElement|null;
  private readonly lead = h("p", {class: "lead"});
  private readonly box = h("div");

  constructor(private readonly page: PageData) {
    const {utilization, queues} = page.gpu;
    this.element = utilization.length + queues.length === 0
      ? null
      : section("gpu", "The GPU", "", this.lead, this.box);
    this.show(null, "");
  }

  show(range: StepRange, label: string): void {
    const {utilization, queues} = this.page.gpu;
    this.lead.replaceChildren(
      "Over ",
      ...binScopeOf(this.page, range, label),
      ". ",
      utilization.length > 0 ? "Estimates from names and launch configurations of kernels." : "",
    );
    this.box.replaceChildren(
      ...utilization.map((gpu) => this.utilization(gpu, range)),
      ...queues.map((queue) => this.queue(queue, range, label)),
    );
  }

  private utilization(gpu: Utilization, range: StepRange): HTMLElement {
    return metricsOf(gpu.title, gpu.metrics, this.over(gpu.parts, range), range !== null);
  }

  private queue(queue: LaunchQueue, range: StepRange, label: string): HTMLElement {
    const parts = this.over(queue.parts, range);
    const {curve, why} = this.curveOf(queue, range, label);
    return h(
      "div",
      {class: "queue"},
      metricsOf(`Launch queue of ${queue.title}`, queue.metrics, parts, range !== null),
      depthChart(curve, why),
      h(
        "p",
        {class: "muted"},
        "Where the queue is empty and the GPU idle, the CPU launches too slowly; where it is deep, the GPU is the limit.",
        ),
    );
  }

  // null: the whole run.
  private over(parts: Parts|null, range: StepRange): PickedParts|null {
    return range && parts ? partsOver(parts, this.page.bin_starts, range) : null;
  }

  // Says which step's curve is shown, and why that one.
  private curveOf(
    queue: LaunchQueue, range: StepRange, label: string): {curve: QueueDepth; why: string} {
    const steps = this.page.training[queue.process]?.tracks[0];
    if (!range || !steps) return {curve: queue.shown, why: "a step of median length"};
    const {first, last} = binScope(this.page, range);
    const until = Math.min(Math.floor(last / steps.group), steps.number.length - 1);
    const entries = {first: Math.min(until, Math.floor(first / steps.group)), last: until};
    const {curve, inside} = queueCurve(queue, {first, last}, aggregate(steps, entries).median_ns);
    if (!inside) return {curve, why: `the nearest with a curve, as ${label} has none`};
    if (first === last) return {curve, why: "the one that is selected"};
    return {curve, why: `of ${label} with a curve the nearest to their median`};
  }
}

function depthChart(curve: QueueDepth, why: string): HTMLElement {
  const most = curve.depth.reduce((largest, depth) => Math.max(largest, depth), 0);
  const words = (depth: number): string => (curve.means ? significant(depth) : count(depth));
  const chart = new StairChart({
    label: `Launches that wait over step ${curve.step}, at most ${words(most)}`,
    yTitle: "launched, not started",
    xTitle: `time in step ${curve.step}`,
    unit: "",
    text: (depth) => `${words(depth)} waiting`,
    time_ns: depthTimes(curve),
    value: curve.depth,
    peak: most,
    peak_ns: null,
    layers: [],
  });
  const means =
    curve.means ? ` Means over ${count(curve.depth.length - 1)} equal parts of it.` : "";
  const caption = h("p", {class: "muted curve-of"}, `Step ${curve.step}: ${why}.${means}`);
  return h("div", {}, caption, chart.element);
}

// `parts`: those of the selected steps.
function metricsOf(
  title: string, metrics: Metric[], parts: PickedParts|null, selected: boolean): HTMLElement {
  const items = shownMetrics(metrics, parts)
                  .map(({label, value, formula}) => h("div", {}, h("dt", {}, label),
                         h("dd", {}, value), h("dd", {class: "muted"}, formula)));
  const whole = selected && !parts ? h("p", {class: "muted"}, "Of the whole run.") : null;
  return h("div", {}, h("h3", {}, title), whole, h("dl", {class: "stats wide"}, ...items));
}
