// What `batchlight report` puts into the page as JSON; written by src/report/page/page_data.cpp.
// Times are ns since the start of the recording and fit a double exactly (2^53 ns is 104 days).

import type {RankMapsData} from "./rank_maps_data";

export type Unit = ""|"ns"|"bytes"|"%"|"rate";

// How a number is recomputed from its parts; src/analysis/result/sum_rule.h says more.
export interface SumRule {
  kind: "sum"|"most"|"ratio"|"quantile"|"percentile";
  of: string;              // key of the parts, or of a histogram
  per?: string;            // what a ratio is over
  factor?: number;         // 1
  scale?: string;          // key of one more factor
  at_most?: number;        // any
  zero_if_none?: boolean;  // a ratio over nothing is 0, else it has no value
  percent?: number;
}

// How many values each bucket holds, per bin of steps.
export interface Histogram {
  starts: number[];  // of the buckets, and where the last one ends
  first: number[];   // per bin: its first bucket with a value
  counts: number[][];
}

// What a row is summed from, per bin of steps; a list with one number holds for all bins.
export interface Parts {
  counts?: number[];  // 1: the steps of the bin count
  of: Record<string, number[]>;
  histograms?: Record<string, Histogram>;
}

// Code finds a column by its key: the name is for people.
export interface Column {
  key: string;
  name: string;
  type?: "text"|"real";  // else whole numbers
  identifier?: boolean;  // they say which thing a row is about, as a process or a step
  unit?: Unit;
  decimals?: number;  // of a real number, else 2
  help?: string;
  help_of_steps?: string;  // for selected steps, if that differs
  sum?: SumRule;           // how its numbers are recomputed for them
  largest?: number;        // of the columns beside which it stands: they share a unit
}

// Column-wise. Text cells are rows of PageData.strings; null = no value.
export interface TableData {
  key: string;  // "kernels"
  title: string;
  csv: string;         // name of the file with all rows
  total_rows: number;  // of that file; the page may hold fewer
  columns: Column[];
  cells: (number|null)[][];
  parts?: TableParts;  // if the table can be recomputed for selected steps
  events?: RowEvents;
}

// What the timeline has of the rows: events by name (rows of `strings`) of one of its tables (""
// where several have them), or the longest of each; null, to = from: nothing.
export type RowEvents = NamedEvents|{
  from: number[];
  to: number[];
};

export interface NamedEvents {
  table: string;
  names: (number|null)[];
}

// What the rows, perhaps not all, are summed from. PageData.bin_starts says where bins begin.
export interface TableParts {
  rows: Parts[];
  all?: Parts;         // of all rows together
  only_with?: string;  // rows without any of this are left out
}

export interface Fact {
  label: string;
  value: string;
}

export type Severity = "info"|"notice"|"error"|"data_loss";

export interface Loss {
  severity: Severity;
  text: string;    // "12,345 events dropped because ..."
  advice: string;  // may be ""
}

export interface PhaseInfo {
  key: string;  // stable: "forward"; "range" for ranges under their own name
  label: string;
  help: string;  // one sentence, may be ""
  idle?: {
    // an idle GPU
    where: string;  // "while the CPU is in "
    cause: string;  // "data loading"
  };
}

// One of a few kinds of something.
export interface Kind {
  key: string;
  name: string;  // may be ""
}

// How often a step comes, over the steps that count.
export interface Rate {
  text: string;       // "40.1 steps/s"
  mean_text: string;  // the same of the mean step; "" where that says nothing else
  period_ns: number;  // from one step to the next, median
  of_gpu: boolean;    // the median step of the slowest GPU, which the CPU runs ahead of
}

// The steps of one process, on its CPU thread and on each of its GPUs: the same steps in the same
// entries of every track.
export interface Training {
  process: string;  // "rank 0, train.py (pid 4711)"
  pid: number;
  whose: string;  // "rank 0"; "": the only one
  rate: Rate;
  tracks: Steps[];  // the CPU first
}

// One entry per step in every array. If group > 1, the run has too many steps for the page, and an
// entry holds the means of `group` consecutive steps, with duration_max_ns the longest of them.
export interface Steps {
  track: string;  // "CPU", "GPU 0"
  facts: Fact[];  // what else is known: "GPU 0 busy" "78.3 %"
  group: number;
  count: number;        // all steps
  phases: PhaseInfo[];  // may be empty
  number: number[];     // of the (first) step; ascending
  start_ns: number[];
  duration_ns: number[];
  duration_max_ns: number[];
  kind: number[];     // index of PageData.step_kinds
  outlier: number[];  // entries with an unusually long step
  outlier_phases:
    [number, number][][];  // of each, if group = 1: phases that were longer, and by how many ns
  // of each, if group = 1, on the CPU: the stage that the better half of it is, with its ns
  outlier_stage: ([string, number]|null)[];
  phase_ns: number[][];  // [phase][entry], adds up to duration_ns
  summary: StepSummary;
  rules: LengthRules;              // the numbers of the summary over other steps
  fewest_for_percentiles: number;  // of fewer steps they are not shown
  idle_of_limit?: number;  // GPU: one that is idle for at most this share of a step is the limit
  between_ns?: number;     // CPU: median time between two steps that is part of none
  events?: TrackEvents;    // behind the phases
}

// Events by name, in bins of steps.
export interface TrackEvents {
  bins: StepBins;      // of this track
  lists: EventList[];  // by phase
}

// Column-wise, one entry per group, by falling time over the steps that count. A phase's groups add
// up to the phase.
export interface EventList {
  kind: number[];          // index of PageData.event_kinds
  name: number[];          // strings; this and the next three
  op: (number|null)[];     // operator around a CUDA call, or that launched the longest work
  after: (number|null)[];  // idle time of a GPU: the work around the longest
  before: (number|null)[];
  total_ns: number[];  // over the steps that count
  count: number[];
  longest_ns: number[];  // of one event in the phase, over the steps that count
  longest_start_ns: number[];
  longest_step: number[];          // its number, -1: none
  bin_ns: number[][];              // [group][bin], all steps
  bin_count: (number|number[])[];  // one number: events in every step
  left_out: number;                // groups that are put together in the last entry
}

export const kSteady = 0;  // in Steps.kind

// Of the steps that count, as computed by the analysis.
export interface StepSummary {
  count: number;
  median_ns: number;
  p5_ns: number;
  p95_ns: number;
  mean_ns: number;
  phase_mean_ns: number[];
  phase_median_ns: number[];
  phase_p95_ns: number[];
}

// Over the lengths "ns", of steps or of a phase in them, and "steps", a 1 for each.
export type LengthRules = Record<"median_ns"|"p5_ns"|"p95_ns"|"mean_ns", SumRule>;

// In the timeline: a step by its number, a moment, the longest event of a name (and table), or a
// stretch of time.
export type Place = {
  step: number
}|{at: number}|{
  find: string;
  table?: string
}
|{
  from: number;
  to: number
};

export interface Evidence {
  kind: string;  // "operator", "kernel", "setting", ...
  name: string;
  place: Place|null;    // where the timeline shows it
  count: number;        // times seen, 0 = does not apply
  per_step_ns: number;  // 0 = does not apply
}

// What to change: causes by falling share of the run that they save, symptoms last.
export interface Finding {
  rule: string;
  title: string;
  seen: string;
  why: string;
  action: string;
  gain_ns: number;  // of a step; 0 = no estimate
  uncertainty_ns: number;
  gain: string;  // as all views say it: "about 12 ms a step (± 3 ms), 41 % of the run"; "" = none
  short_gain: string;      // without the uncertainty
  shown: number;           // of the evidence: what the timeline shows first, -1: nothing
  symptom: boolean;        // it shows a cause and promises nothing
  place: string;           // "train.py:41" of the lines below, "" = not known
  diff: string;            // lines to change, "" = none
  same_time_as: string[];  // rules of findings above that gain part of the same time
  evidence: Evidence[];
}

// The most expensive things of one kind, in order.
export interface TopList {
  key: string;  // "operators": also the name of the table with all rows
  title: string;
  measure: string;    // what the bars show, in words
  whose: string;      // "mean of 2 ranks"; "": one process trains
  share_of: string;   // "of step"
  per_step: boolean;  // value_ns is per step; else of the whole run
  rows: TopRow[];
}

export interface TopRow {
  name: string;
  label: string;  // the name made readable, "" = the name itself
  detail: string;
  calls: number;
  value_ns: number;
  share: number;
}

// A number about one thing; `help` is its formula, in which {key} stands for the number of another
// metric. A metric without a name is shown only inside such a formula.
export interface Metric extends Column {
  value: string;  // of the steps that count
}

export interface Gpu {
  worked: boolean;  // false: a run on CPU only
  utilization: Utilization[];
  queues: LaunchQueue[];
  memory: MemoryCurve[];
}

// The parts are per bin of one process's steps; null = no steps.
export interface Utilization {
  title: string;
  metrics: Metric[];
  parts: Parts|null;
}

// Work that was launched and has not started.
export interface LaunchQueue {
  title: string;
  process: number;  // entry of PageData.training
  metrics: Metric[];
  shown: QueueDepth;     // of a step of median length
  curves: QueueDepth[];  // of a few others, coarser
  parts: Parts|null;
}

// Over one step.
export interface QueueDepth {
  row: number;        // the step's place in the run
  step: number;       // its number
  means: boolean;     // over equal parts of the step: time_ns has its length only
  time_ns: number[];  // since the start of the step; the last is its length
  depth: number[];    // from each time to the next
}

// Who waits for whom; the numbers are in the tables "ranks" and "collectives".
export interface Distributed {
  verdict: string;  // of the whole run; may be ""
}

// Memory held, from each time to the next.
export interface MemoryCurve {
  title: string;
  peak_bytes: number;
  peak_ns: number;
  allocations: number;
  time_ns: number[];
  bytes: number[];
  thinned: boolean;       // not every change is a point
  layers: MemoryLayer[];  // adds up to bytes
  holders: {category: string; place: string; blocks: number; bytes: number}[];  // at the peak
  bins: MemoryBins|null;
}

export interface MemoryBins {
  from_ns: number[];  // no time: the process had no steps in the bin
  to_ns: number[];
  allocations_before: number[];  // made before from_ns
  allocations_until: number[];   // made before to_ns
}

export interface MemoryLayer {
  key: string;
  name: string;
  rule: string;  // why memory is put in it
  at_peak: number;
  bytes: number[];  // in the points of the curve
}

// Own time and calls of every node of the tree in every bin of steps. Ascending; of two bins with
// the same first step, one holds the steps that count, one the others.
export interface StepBins {
  first_step: number[];
  steps: number[];   // how many, over all that the times are of
  counts: number[];  // 1: steps that count
}

export interface TreeTimes {
  step_ns: number;  // mean step, 0 without steps
  bins: StepBins;
  // [node][bin]: CPU time of a call that the step waits for, GPU time of work; 0: in no bin
  self_ns: (number[]|0)[];
  beside_ns: (number[]|0)[];   // CPU time of calls on other threads
  calls: (number|number[])[];  // [node][bin], or one number: calls in every step
}

export interface TreeRank extends TreeTimes {
  name: string;  // "rank 0"
  rank: number;  // -1 unknown
}

export interface TreeKind extends Kind {
  work: boolean;  // on the GPU
}

// A time of a node including everything inside: the nodes whose own times it adds up.
export interface TreeTime {
  key: string;
  work?: boolean;
  backward?: boolean;
  beside?: boolean;  // of the times on other threads
}

// A quantity that rules of columns name, summed over nodes.
export interface TreeSum {
  key: string;  // entries of one key add up
  of: string;   // of Tree.times, or of the node alone: "calls", "self", "beside", "launched"
  work?: boolean;
  backward?: boolean;
  outermost?: boolean;  // of nodes in no other of their name and pass
}

// Nodes put together by name.
export interface TreeGroups {
  work: boolean;  // work on the GPU, else operators
  columns: TreeColumn[];
  sums: TreeSum[];
  order: string[];  // by the falling sum of these
}

export interface TreeColumn extends Column {
  only_with?: string[];  // left out where one of these times is 0
}

// Where the time goes: model, modules, operators, kernels as one tree, column-wise; parents before
// children. Its times are those of all ranks together.
export interface Tree extends TreeTimes {
  per_step: boolean;  // false: no steps, one bin with the whole run
  left_out: number;   // nodes beyond what the page holds; their time is in "(smaller ones)"
  kinds: TreeKind[];
  times: TreeTime[];
  columns: TreeColumn[];  // of its nodes
  sums: TreeSum[];
  operators: TreeGroups;
  kernels: TreeGroups;
  kind: number[];           // index of kinds
  name: number[];           // strings
  detail: (number|null)[];  // strings: class of a module, first input shapes of an operator
  more: number[];           // calls whose shapes were others
  parent: number[];         // -1 = a root
  backward: number[];       // 1 = part of the backward pass
  // Of the calls, or work: the longest in steps that count, else in the run; 0: not known.
  longest_start_ns: number[];
  longest_ns: number[];
  ranks?: TreeRank[];       // of a job of several: the times of each; fewer and longer bins
  ranks_left_out?: number;  // more than the page holds
}

export interface Process {
  name: string;
  pid: number;
  rank: number;    // -1 none
  parent: number;  // index, -1 none
  command: string;
  start_ns: number;
  end_ns: number|null;  // null = unknown
  exit: string;         // "exit 0"
  failed: boolean;
  succeeded: boolean;
  threads: number;
  events: number;
}

export interface Stage {
  key: string;    // "start_up"
  label: string;  // "start-up"
  count: number;  // steps, or stretches
  total_ns: number;
  each_ns: number;
}

export interface StartUpPart {
  label: string;
  total_ns: number;
  imports: {package: string; total_ns: number}[];  // the largest; of one part only
}

// The life of a training process: its stages add up to it.
export interface Life {
  process: string;  // "rank 0"
  wall_ns: number;
  stages: Stage[];
  start_up: StartUpPart[];  // empty: not recorded
}

export interface PageData {
  format: 1;
  version: string;  // of batchlight
  title: string;    // train.py
  command: string;
  facts: Fact[];
  duration_ns: number;
  events: number;
  losses: Loss[];
  lives: Life[];        // of training processes, as in training
  steps_found: string;  // how, or why there are none
  step_kinds: string[];
  outlier_rule: string;  // which steps are outliers
  training: Training[];  // by rank; empty: no steps
  event_kinds: Kind[];
  bin_starts: number[];  // first steps of the bins of Parts; empty: no steps
  advice: Finding[];
  advice_together: string;  // what all gain together, "" = not to say
  gpu: Gpu;
  distributed: Distributed|null;
  rank_maps: RankMapsData|null;
  from_steps: string;  // "from 41 of 600 steps", "" = all were recorded with detail
  tops: TopList[];
  tree: Tree|null;
  timeline?: boolean;     // the page has one; not of the data, but of the elements beside them
  process_count: number;  // of the program
  process_rows: number;   // recorded, launchers too; the page may hold fewer
  processes: Process[];
  main_process: number;  // of processes: what the heading is about; -1 = none
  tables: TableData[];
  strings: string[];
  labels: Record<number, string>;  // how to show a string that is hard to read
}
