// The part of a memory curve in which the selected steps ran. Its peak is exact, because thinning
// keeps the highest point of every bin of steps and what is held when the bin begins.
import type {MemoryCurve} from "./data";
import {touchedBins} from "./step_bins";
import type {StepRange} from "./step_bins";

export interface MemorySpan {
  from_ns: number;
  to_ns: number;
  points: number[];  // of the curve: the one in force when it begins, then those inside
  peak: number;      // of these
  allocations: number;
}

// null: nothing is selected, or the process had no steps then.
export function memorySpan(
  curve: MemoryCurve, firstStep: readonly number[], range: StepRange): MemorySpan|null {
  const {bins} = curve;
  if (!bins || !range) return null;
  const touched =
    touchedBins(firstStep, range).filter((bin) => bins.to_ns[bin] > bins.from_ns[bin]);
  if (touched.length === 0) return null;
  const first = touched[0];
  const last = touched[touched.length - 1];
  const from_ns = bins.from_ns[first];
  const to_ns = bins.to_ns[last];
  const points: number[] = [];
  curve.time_ns.forEach((ns, point) => {
    if (ns < from_ns) points[0] = point;
    else if (ns < to_ns) points.push(point);
  });
  const peak = points.reduce(
    (best, point) => (curve.bytes[point] > curve.bytes[best] ? point : best), points[0] ?? -1);
  return {
    from_ns,
    to_ns,
    points,
    peak,
    allocations: bins.allocations_until[last] - bins.allocations_before[first]
  };
}
