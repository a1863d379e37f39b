// Which steps the page is about, and their numbers. Without a selection these are the steady steps,
// with the numbers of the analysis. A selected range is added up here, over its steady steps, or
// over all of its steps if none is steady.
import {kSteady} from "./data";
import type {Steps, StepSummary} from "./data";
import {ascending, mean, percentile} from "./statistics";

export interface Range {
  first: number;  // entry of Steps, inclusive
  last: number;
}

// The same numbers as the analysis computes, over other steps.
export interface Aggregate extends StepSummary {
  label: string;
  set_apart: Map<number, number>;  // steps in the range that do not count, by kind
  longest_ns: number;
  longest_step: number;  // its number, of the first of its group
}

function entriesOf(steps: Steps, range: Range|null): number[] {
  const inRange: number[] = [];
  const first = range ? range.first : 0;
  const last = range ? range.last : steps.number.length - 1;
  for (let entry = first; entry <= last; ++entry) inRange.push(entry);
  const steady = inRange.filter((entry) => steps.kind[entry] === kSteady);
  return steady.length > 0 ? steady : inRange;
}

function labelOf(steps: Steps, range: Range|null): string {
  if (!range) return "steady steps";
  const first = steps.number[range.first];
  const last = steps.number[range.last] + steps.group - 1;
  return first === last ? `step ${first}` : `steps ${first}–${last}`;
}

function setApart(
  steps: Steps, range: Range|null, counted: readonly number[]): Map<number, number> {
  const kinds = new Map<number, number>();
  const counts = new Set(counted);
  const last = range ? range.last : steps.number.length - 1;
  for (let entry = range ? range.first : 0; entry <= last; ++entry) {
    if (counts.has(entry)) continue;
    kinds.set(steps.kind[entry], (kinds.get(steps.kind[entry]) ?? 0) + steps.group);
  }
  return kinds;
}

// Of fewer steps a percentile says no more than the shortest and the longest: it is not shown.
export function hasPercentiles({count}: {count: number}): boolean {
  return count >= 5;
}

export function aggregate(steps: Steps, range: Range|null): Aggregate {
  const entries = entriesOf(steps, range);
  const sorted = ascending(entries.map((entry) => steps.duration_ns[entry]));
  const phases = steps.phase_ns.map((values) => ascending(entries.map((entry) => values[entry])));
  const longest = entries.reduce(
    (best, entry) => steps.duration_max_ns[entry] > steps.duration_max_ns[best] ? entry : best,
  );
  const result: Aggregate = {
    label: labelOf(steps, range),
    count: entries.length * steps.group,
    set_apart: setApart(steps, range, entries),
    longest_ns: steps.duration_max_ns[longest],
    longest_step: steps.number[longest],
    median_ns: percentile(sorted, 50),
    p5_ns: percentile(sorted, 5),
    p95_ns: percentile(sorted, 95),
    mean_ns: mean(sorted),
    phase_mean_ns: phases.map(mean),
    phase_median_ns: phases.map((values) => percentile(values, 50)),
    phase_p95_ns: phases.map((values) => percentile(values, 95)),
  };
  // The analysis saw every step; the page may hold only groups of them.
  return range ? result : {...result, ...steps.summary};
}

// Mean step of several processes, over steps given by their place in the run; 0: no process has any
// of them.
export function meanStep(processes: readonly Steps[], first: number, last: number): number {
  let [count, sum] = [0, 0];
  for (const steps of processes) {
    const end = steps.number.length - 1;
    const range = {
      first: Math.floor(first / steps.group),
      last: Math.min(end, Math.floor(last / steps.group))
    };
    const entries = entriesOf(steps, range);
    count += entries.length;
    for (const entry of entries) sum += steps.duration_ns[entry];
  }
  return count > 0 ? sum / count : 0;
}

// The phase with the largest share, as an index; -1 without phases.
export function largestPhase(numbers: Aggregate): number {
  let best = -1;
  numbers.phase_mean_ns.forEach((value, phase) => {
    if (best < 0 || value > numbers.phase_mean_ns[best]) best = phase;
  });
  return best;
}
