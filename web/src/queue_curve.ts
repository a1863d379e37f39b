// Which step's launch queue to show for the selected steps, and where its points lie.
import type {LaunchQueue, QueueDepth} from "./data";

export interface ShownQueue {
  curve: QueueDepth;
  inside: boolean;  // it is a step of the selection
}

// Chooses among the steps whose curves the page has: of those in the selection, the one whose
// length is nearest to `median_ns`; if there are none, the one nearest to the selection.
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
