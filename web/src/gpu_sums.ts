// How well a GPU is used over the steps that are selected, by the formulas that the page states
// beside each number; and which step's launch queue to show for them.
import type {LaunchQueue, QueueBins, QueueDepth, UseBins} from "./data";
import {count, percent, significant, time} from "./format";
import {kLatencyResolution, latencyPercentiles} from "./latency";
import {sumOver} from "./step_bins";

// A number by the key of its metric; `formula` where it is not that of the whole run.
export interface Recomputed {
  value: string;
  formula?: string;
}

export function useOver(use: UseBins, bins: readonly number[]): Record<string, Recomputed> {
  const time_ns = sumOver(use.time_ns, bins);
  const kernel_ns = sumOver(use.kernel_ns, bins);
  return {
    busy: {value: percent(sumOver(use.busy_ns, bins), time_ns)},
    sm_efficiency: {value: percent(Math.min(time_ns, sumOver(use.sm_ns, bins)), time_ns)},
    occupancy: {value: percent(sumOver(use.occupancy_ns, bins), kernel_ns)},
    tensor_core: {value: percent(sumOver(use.tensor_ns, bins), kernel_ns)},
  };
}

export function queueOver(queue: QueueBins, bins: readonly number[]): Record<string, Recomputed> {
  const time_ns = sumOver(queue.time_ns, bins);
  const [median, p95] = latencyPercentiles(queue, bins, [50, 95]);
  const most = bins.reduce((highest, bin) => Math.max(highest, queue.most[bin]), 0);
  const depth = sumOver(queue.depth_ns, bins) / (time_ns || 1);
  const about = `, within ${Math.ceil(100 * kLatencyResolution)} %`;
  const latency = (ns: number): string => (Number.isNaN(ns) ? "–" : time(ns));
  return {
    median:
      {value: latency(median), formula: `start on the GPU − begin of the launching call${about}`},
    p95: {value: latency(p95), formula: `19 of 20 launches start sooner${about}`},
    empty: {value: percent(sumOver(queue.empty_ns, bins), time_ns)},
    depth: {
      value: significant(depth),
      formula: `launched and not started, mean over time; at most ${count(most)}`,
    },
  };
}

export interface ShownQueue {
  curve: QueueDepth;
  inside: boolean;  // it is a step of the selection
}

// Of the steps whose curves the page has: of those in the selection the one whose length is nearest
// to `median_ns`; else the one nearest to the selection.
export function queueCurve(
  queue: LaunchQueue,
  range: {first: number; last: number},
  median_ns: number,
  ): ShownQueue {
  const all = [queue.shown, ...queue.curves.filter(({row}) => row !== queue.shown.row)];
  const inside = all.filter(({row}) => row >= range.first && row <= range.last);
  const away = ({row, time_ns}: QueueDepth): number => inside.length > 0
    ? Math.abs(time_ns[time_ns.length - 1] - median_ns)
    : Math.max(range.first - row, row - range.last);
  const candidates = inside.length > 0 ? inside : all;
  const curve = candidates.reduce((best, other) => (away(other) < away(best) ? other : best));
  return {curve, inside: inside.length > 0};
}

// From each time to the next.
export function depthTimes(curve: QueueDepth): number[] {
  if (!curve.means) return curve.time_ns;
  const parts = curve.depth.length - 1;
  return curve.depth.map((_, part) => (curve.time_ns[0] * part) / parts);
}
