// What `batchlight report` puts into the page as JSON; written by src/report/page/page_data.cpp.
// Times are ns since the start of the recording and fit a double exactly (2^53 ns is 104 days).

export type Unit = ""|"ns"|"bytes"|"%"|"rate";

export interface Column {
  name: string;
  type: "text"|"integer"|"real";
  unit: Unit;
  decimals: number;
  help: string;
}

// Column-wise. Text cells are rows of PageData.strings; null = no value.
export interface TableData {
  name: string;
  title: string;
  csv: string;         // name of the file with all rows
  total_rows: number;  // of that file; the page may hold fewer
  columns: Column[];
  cells: (number|null)[][];
}

export interface Fact {
  label: string;
  value: string;
}

export type Severity = "info"|"error"|"data_loss";

export interface Loss {
  severity: Severity;
  text: string;    // "12,345 events dropped because ..."
  advice: string;  // may be ""
}

export interface PhaseInfo {
  key: string;  // stable: "forward"; "range" for ranges under their own name
  label: string;
  help: string;  // one sentence, may be ""
}

// The steps of one process, on its CPU thread and on each of its GPUs: the same steps in the same
// entries of every track.
export interface Training {
  process: string;  // "rank 0, train.py (pid 4711)"
  tracks: Steps[];  // the CPU first
}

// One entry per step in every array. When group > 1 the run has too many steps for the page and an
// entry stands for `group` consecutive ones: means, with duration_max_ns the longest of them.
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
  kind: number[];        // index of PageData.step_kinds
  outlier: number[];     // entries with an unusually long step
  phase_ns: number[][];  // [phase][entry], adds up to duration_ns
  summary: StepSummary;
  between_ns?: number;   // CPU: median time between two steps that is part of none
  events?: TrackEvents;  // behind the phases
}

// Events by name, in bins of steps.
export interface TrackEvents {
  bins: StepBins;      // of this track
  lists: EventList[];  // by phase
}

// Column-wise, one entry per group, by falling time over the steps that count. The groups of a
// phase add up to it.
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

// Of the steps that count, as the analysis has it.
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

export interface Evidence {
  kind: string;  // "operator", "kernel", "setting", ...
  name: string;
  count: number;        // times seen, 0 = does not apply
  per_step_ns: number;  // 0 = does not apply
}

// What to change, by falling gain.
export interface Finding {
  rule: string;
  title: string;
  seen: string;
  why: string;
  action: string;
  gain_ns: number;  // of a step; 0 = no estimate
  uncertainty_ns: number;
  same_time_as: string[];  // rules of findings above that gain part of the same time
  evidence: Evidence[];
}

// The most expensive things of one kind, in order.
export interface TopList {
  key: string;  // "operators": also the name of the table with all rows
  title: string;
  measure: string;    // what the bars show, in words
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

export interface Metric {
  key: string;  // what gpu_sums.ts computes again for steps that are selected
  label: string;
  value: string;
  formula: string;
}

export interface Gpu {
  worked: boolean;  // false: a run on CPU only
  utilization: Utilization[];
  queues: LaunchQueue[];
  memory: MemoryCurve[];
}

// Of one process, per bin: how many of its steps a sum is over, and whether these count (1) or are
// all that there are (0).
export interface ProcessBins {
  steps: number[];
  counts: number[];
}

// The metrics are of the steps that count. Bins begin with PageData.bin_starts, here and below, and
// are of the steps of one process; null = no steps.
export interface Utilization {
  title: string;
  metrics: Metric[];
  bins: UseBins|null;
}

// What the metrics are made of, per bin.
export interface UseBins extends ProcessBins {
  time_ns: number[];
  busy_ns: number[];
  kernel_ns: number[];
  tensor_ns: number[];
  sm_ns: number[];
  occupancy_ns: number[];
}

// Work that is launched and has not started.
export interface LaunchQueue {
  title: string;
  process: number;  // entry of PageData.training
  metrics: Metric[];
  shown: QueueDepth;     // of a step of median length
  curves: QueueDepth[];  // of a few others, coarser
  bins: QueueBins|null;
}

// Over one step.
export interface QueueDepth {
  row: number;        // the step's place in the run
  step: number;       // its number
  means: boolean;     // over equal parts of the step: time_ns has its length only
  time_ns: number[];  // since the start of the step; the last is its length
  depth: number[];    // from each time to the next
}

// Launches by latency, in the buckets of latency.ts.
export interface LatencyCounts {
  first_bucket: number[];  // per bin of steps
  launches: number[][];    // from that bucket on
}

export interface QueueBins extends ProcessBins, LatencyCounts {
  time_ns: number[];
  depth_ns: number[];  // depth x time
  empty_ns: number[];
  most: number[];
}

// Who waits for whom; the numbers of the whole run are in the tables "ranks" and "collectives", in
// whose order these are.
export interface Distributed {
  verdict: string;  // may be ""
  ranks: RankBins[];
  collectives: CollectiveBins[];  // perhaps not of all rows
  bins: ProcessBins|null;         // of all ranks together, whose calls all count
}

export interface RankBins extends ProcessBins {
  step_ns: number[];
  windows: number[];  // steps that have a window on the GPU
  compute_ns: number[];
  communication_ns: number[];
  hidden_ns: number[];
  copies_ns: number[];
  idle_ns: number[];
  waited_ns: number[];
}

// Of all ranks together.
export interface CollectiveBins {
  size_bytes: number;
  bus_factor: number;  // bus bandwidth / algorithm bandwidth
  knows_waits: boolean;
  calls: number[];
  timed: number[];
  matched: number[];
  kernel_ns: number[];
  waited_ns: number[];
  shortest_ns: number[];
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
  name: string;
  rule: string;  // why memory is in it
  at_peak: number;
  bytes: number[];  // in the points of the curve
}

// Own time and calls of every node of the tree in every bin of steps.
// Ascending; of two bins with the same first step one holds those that count, one the others.
export interface StepBins {
  first_step: number[];
  steps: number[];   // how many, over all that the times are of
  counts: number[];  // 1: steps that count
}

export interface TreeTimes {
  step_ns: number;  // mean step, 0 without steps
  bins: StepBins;
  self_ns: (number[]|0)[];     // [node][bin]: CPU time of a call, GPU time of work; 0: in no bin
  calls: (number|number[])[];  // [node][bin], or one number: calls in every step
}

export interface TreeRank extends TreeTimes {
  name: string;  // "rank 0"
}

// Where the time goes: model, modules, operators, kernels as one tree, column-wise; parents before
// children. Its times are those of all ranks together.
export interface Tree extends TreeTimes {
  per_step: boolean;        // false: no steps, one bin with the whole run
  left_out: number;         // nodes beyond what the page holds; their time is in "(smaller ones)"
  kind: number[];           // TreeKind
  name: number[];           // strings
  detail: (number|null)[];  // strings: class of a module, first input shapes of an operator
  more: number[];           // calls whose shapes were others
  parent: number[];         // -1 = a root
  backward: number[];       // 1 = part of the backward pass
  ranks?: TreeRank[];       // of a job of several: the times of each; fewer and longer bins
  ranks_left_out?: number;  // beyond what the page holds
}

// As in src/analysis/owners/attribution_tree.h.
export const TreeKind = {
  phase: 0,
  range: 1,
  module: 2,
  operator: 3,
  kernel: 4,
  copy: 5,
  memset: 6,
  graph: 7,
  nobody: 8,
} as const;

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
  threads: number;
  events: number;
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
  steps_found: string;    // how, or why there are none
  steps_problem: string;  // "" = none
  step_kinds: string[];
  training: Training[];   // by rank; empty: no steps
  event_kinds: string[];  // "operator", "kernel", "" = none
  bin_starts: number[];   // first steps of the bins of ProcessBins; empty: no steps
  advice: Finding[];
  gpu: Gpu;
  distributed: Distributed|null;
  tops: TopList[];
  tree: Tree|null;
  process_count: number;  // of the run; the page may hold fewer
  processes: Process[];
  tables: TableData[];
  strings: string[];
  labels: Record<number, string>;  // how to show a string that is hard to read
}
