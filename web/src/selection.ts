// Which steps the page is about, and their numbers. Without a selection these are the steady steps,
// with the numbers of the analysis. A selected range is added up here, over its steady steps, or
// over all of its steps if none is steady.
import {kSteady} from "./data";
import type {Steps, StepSummary, SumRule} from "./data";
import {evaluate} from "./sums";

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
  has_percentiles: boolean;
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

function lengthBy(rule: SumRule, ns: readonly number[]): number {
  return evaluate(rule, {of: {ns, steps: ns.map(() => 1)}}) ?? 0;
}

export function aggregate(steps: Steps, range: Range|null): Aggregate {
  const entries = entriesOf(steps, range);
  const {rules} = steps;
  const of = (rule: SumRule, values: readonly number[]): number =>
    lengthBy(rule, entries.map((entry) => values[entry]));
  const phases = (rule: SumRule): number[] => steps.phase_ns.map((values) => of(rule, values));
  const longest = entries.reduce(
    (best, entry) => steps.duration_max_ns[entry] > steps.duration_max_ns[best] ? entry : best,
  );
  const numbers: StepSummary = {
    count: entries.length * steps.group,
    median_ns: of(rules.median_ns, steps.duration_ns),
    p5_ns: of(rules.p5_ns, steps.duration_ns),
    p95_ns: of(rules.p95_ns, steps.duration_ns),
    mean_ns: of(rules.mean_ns, steps.duration_ns),
    phase_mean_ns: phases(rules.mean_ns),
    phase_median_ns: phases(rules.median_ns),
    phase_p95_ns: phases(rules.p95_ns),
  };
  // The analysis saw every step; the page may hold only groups of them.
  const shown = range ? numbers : {...numbers, ...steps.summary};
  return {
    ...shown,
    label: labelOf(steps, range),
    set_apart: setApart(steps, range, entries),
    longest_ns: steps.duration_max_ns[longest],
    longest_step: steps.number[longest],
    has_percentiles: shown.count >= steps.fewest_for_percentiles,
  };
}

// Mean step of several processes, over steps given by their place in the run; 0: no process has any
// of them.
export function meanStep(processes: readonly Steps[], first: number, last: number): number {
  const ns = processes.flatMap((steps) => {
    const end = steps.number.length - 1;
    const range = {
      first: Math.floor(first / steps.group),
      last: Math.min(end, Math.floor(last / steps.group))
    };
    return entriesOf(steps, range).map((entry) => steps.duration_ns[entry]);
  });
  return processes.length > 0 ? lengthBy(processes[0].rules.mean_ns, ns) : 0;
}

// The phase with the largest share, as an index; -1 without phases.
export function largestPhase(numbers: Aggregate): number {
  let best = -1;
  numbers.phase_mean_ns.forEach((value, phase) => {
    if (best < 0 || value > numbers.phase_mean_ns[best]) best = phase;
  });
  return best;
}
