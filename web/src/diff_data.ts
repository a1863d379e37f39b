// What `batchlight diff -f html` puts into the page: the object of `-f json`, with titles.
export interface DiffSide {
  source: string;
  command: string;
  steps: number;
  mean_ns: number;
  median_ns: number;
  p95_ns: number|null;  // null: too few steps
}

export interface Change {
  name: string;
  change: string;  // "slower", "faster", "new", "gone", "same", "rest"
  a_ns: number;
  b_ns: number;
  a_calls: number;
  b_calls: number;
}

export interface ChangeList {
  title: string;
  whole: string;  // "step"
  a_ns: number;
  b_ns: number;
  changes?: Change[];
}

export interface Diff {
  verdict: string;
  a: DiffSide;
  b: DiffSide;
  difference_ns: number;
  relative: number;
  sure: boolean;
  interval_ns?: [number, number];  // 95 %
  problem?: string;
  not_the_same?: {what: string; a: string; b: string}[];
  lists?: Record<string, ChangeList>;
  gates?: {gate: string; failed: boolean; finding: string}[];
}

export interface DiffPage {
  format: 1;
  kind: "diff";
  version: string;
  diff: Diff;
}
