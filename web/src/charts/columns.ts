// Geometry of the step chart, without the DOM: entries become columns of at least kMinWidth pixels,
// and a scale is chosen in which ordinary steps fill the height.
import {kSteady} from "../data";
import {quantile} from "../sums";

export interface ColumnBar {
  first: number;  // entries of Steps, inclusive
  last: number;
  duration_ns: number;  // mean
  longest_ns: number;
  phase_ns: number[];  // mean
  kind: number;        // kSteady if any step is
  has_outlier: boolean;
}

// What columns are made of; by entry.
export interface StepTimes {
  duration_ns: ArrayLike<number>;
  duration_max_ns: ArrayLike<number>;
  phase_ns: readonly ArrayLike<number>[];
  kind: ArrayLike<number>;
  outlier: readonly number[];
}

const kMinWidth = 3;

export function columnsFor(steps: StepTimes, width: number, minWidth = kMinWidth): ColumnBar[] {
  const entries = steps.duration_ns.length;
  const perColumn = Math.max(1, Math.ceil((entries * minWidth) / Math.max(1, width)));
  const columns: ColumnBar[] = [];
  const outliers = new Set(steps.outlier);
  for (let first = 0; first < entries; first += perColumn) {
    columns.push(columnOf(steps, outliers, first, Math.min(entries, first + perColumn) - 1));
  }
  return columns;
}

function columnOf(
  steps: StepTimes, outliers: ReadonlySet<number>, first: number, last: number): ColumnBar {
  const size = last - first + 1;
  const column: ColumnBar = {
    first,
    last,
    duration_ns: 0,
    longest_ns: 0,
    phase_ns: steps.phase_ns.map(() => 0),
    kind: steps.kind[first],
    has_outlier: false,
  };
  for (let entry = first; entry <= last; ++entry) {
    column.duration_ns += steps.duration_ns[entry] / size;
    column.longest_ns = Math.max(column.longest_ns, steps.duration_max_ns[entry]);
    steps.phase_ns.forEach((values, phase) => (column.phase_ns[phase] += values[entry] / size));
    if (steps.kind[entry] === kSteady) column.kind = kSteady;
    if (outliers.has(entry)) column.has_outlier = true;
  }
  return column;
}

// The height that fits the ordinary steps. A few much longer ones (warm-up, a checkpoint) would
// flatten all others, so columns above that height are cut and marked.
export function heightThatFits(columns: readonly ColumnBar[]): {height: number; cut: boolean} {
  const longest = columns.reduce((most, column) => Math.max(most, column.duration_ns), 0);
  const steady = columns.filter((column) => column.kind === kSteady);
  const counted = steady.length > 0 ? steady : columns;
  const ordinary = 1.25 * (quantile(counted.map((column) => column.duration_ns), 90) ?? 0);
  return longest > 1.6 * ordinary ? {height: ordinary, cut: true} : {height: longest, cut: false};
}

// Neighbouring columns of one kind: [from, to).
export function runsOfKind(
  columns: readonly ColumnBar[],
  ): {kind: number; from: number; to: number}[] {
  const runs: {kind: number; from: number; to: number}[] = [];
  columns.forEach(({kind}, i) => {
    const run = runs[runs.length - 1];
    if (run && run.kind === kind) run.to = i + 1;
    else runs.push({kind, from: i, to: i + 1});
  });
  return runs;
}
