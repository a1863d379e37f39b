// Sums over the attribution tree, for the steps and the rank that the reader has selected: what
// every view of modules, operators and kernels shows is computed here, from the same nodes.
import {TreeKind} from "./data";
import type {StepBins, Tree, TreeTimes} from "./data";
import type {StepRange} from "./step_bins";

type Binned = {
  bins: StepBins
};

export interface TreeSums {
  steps: number;    // 1 where there are none
  step_ns: number;  // mean step that counts, of the same ranks; without steps all CPU time
  // Per node and step: its own, then with all that is inside.
  calls: Float64Array;
  self: Float64Array;     // CPU time of a call, GPU time of work
  gpuSelf: Float64Array;  // work that the node launched itself
  cpuForward: Float64Array;
  cpuBackward: Float64Array;
  gpuForward: Float64Array;
  gpuBackward: Float64Array;
  cpu: number;  // of all roots
  gpu: number;
}

export function isGpuWork(kind: number): boolean {
  return kind >= TreeKind.kernel && kind !== TreeKind.nobody;
}

// The bins that a selection stands for: those that count, or all in it when none does.
export function binsOf(times: Binned, range: StepRange): number[] {
  const {first_step, counts} = times.bins;
  if (first_step.length === 0) return [0];
  const inRange = first_step.flatMap((first, bin) => {
    if (!range) return [bin];
    return first <= range.last && range.first < endOf(times, bin) ? [bin] : [];
  });
  const counted = inRange.filter((bin) => counts[bin] === 1);
  return counted.length > 0 ? counted : inRange;
}

// The first step after those of a bin.
function endOf({bins: {first_step}}: Binned, bin: number): number {
  return first_step.find((first) => first > first_step[bin]) ?? Infinity;
}

// Steps of the longest bin that a selection touches and does not hold whole, in a run of `all`
// steps; 0: what is summed is what was selected.
export function coarseness(times: Binned, range: StepRange, all: number): number {
  if (!range || times.bins.first_step.length === 0) return 0;
  const lengths = binsOf(times, range).map((bin) => {
    const [first, end] = [times.bins.first_step[bin], Math.min(all, endOf(times, bin))];
    return first < range.first || end - 1 > range.last ? end - first : 0;
  });
  return Math.max(...lengths);
}

// The steps of the bins that a selection stands for.
export function stepsOf(times: TreeTimes, range: StepRange): StepRange {
  const bins = binsOf(times, range);
  if (!range || bins.length === 0) return range;
  const last = bins.reduce((most, bin) => Math.max(most, endOf(times, bin) - 1), 0);
  return {first: times.bins.first_step[bins[0]], last};
}

// The times of one of Tree.ranks, or of all ranks together.
export function timesOf(tree: Tree, rank: number|null): TreeTimes {
  return (rank === null ? undefined : tree.ranks?.[rank]) ?? tree;
}

export function sumTree(tree: Tree, range: StepRange, rank: number|null = null): TreeSums {
  const size = tree.kind.length;
  const times = timesOf(tree, rank);
  const bins = binsOf(times, range);
  const steps = times.bins.steps.length === 0
    ? 1
    : bins.reduce((sum, bin) => sum + times.bins.steps[bin], 0) || 1;
  const make = (): Float64Array => new Float64Array(size);
  const sums: TreeSums = {
    steps,
    step_ns: times.step_ns,
    calls: make(),
    self: make(),
    gpuSelf: make(),
    cpuForward: make(),
    cpuBackward: make(),
    gpuForward: make(),
    gpuBackward: make(),
    cpu: 0,
    gpu: 0,
  };
  for (let node = 0; node < size; ++node) {
    const self = times.self_ns[node];
    sums.self[node] = self === 0 ? 0 : bins.reduce((sum, bin) => sum + self[bin], 0) / steps;
    const calls = times.calls[node];
    sums.calls[node] =
      typeof calls === "number" ? calls : bins.reduce((sum, bin) => sum + calls[bin], 0) / steps;
    own(sums, tree, node)[node] += sums.self[node];
  }
  addUp(tree, sums);
  if (!tree.per_step) sums.step_ns = sums.cpu;
  return sums;
}

function own(sums: TreeSums, tree: Tree, node: number): Float64Array {
  const backward = tree.backward[node] === 1;
  if (isGpuWork(tree.kind[node])) return backward ? sums.gpuBackward : sums.gpuForward;
  return backward ? sums.cpuBackward : sums.cpuForward;
}

function addUp(tree: Tree, sums: TreeSums): void {
  const inclusive = [sums.cpuForward, sums.cpuBackward, sums.gpuForward, sums.gpuBackward];
  for (let node = tree.kind.length - 1; node >= 0; --node) {
    const parent = tree.parent[node];
    if (parent < 0) {
      sums.cpu += sums.cpuForward[node] + sums.cpuBackward[node];
      sums.gpu += sums.gpuForward[node] + sums.gpuBackward[node];
      continue;
    }
    if (isGpuWork(tree.kind[node])) sums.gpuSelf[parent] += sums.self[node];
    for (const values of inclusive) values[parent] += values[node];
  }
}

// What one name did, wherever it was called.
export interface Group {
  name: number;  // string
  nodes: number[];
  calls: number;
  cpuSelf: number;
  cpuTotal: number;  // with operators inside; a call inside one of the same name counts once
  backward: number;  // CPU time of the functions that differentiate its calls
  gpuSelf: number;
  gpuTotal: number;
}

export function groupOperators(tree: Tree, sums: TreeSums): Group[] {
  const groups = new Map<number, Group>();
  tree.kind.forEach((kind, node) => {
    if (kind !== TreeKind.operator) return;
    const group = groupOf(groups, tree.name[node]);
    group.nodes.push(node);
    group.calls += sums.calls[node];
    group.cpuSelf += sums.self[node];
    group.gpuSelf += sums.gpuSelf[node];
    if (insideSameName(tree, node)) return;
    const isBackward = tree.backward[node] === 1;
    group.cpuTotal += isBackward ? sums.cpuBackward[node] : sums.cpuForward[node];
    group.gpuTotal += isBackward ? sums.gpuBackward[node] : sums.gpuForward[node];
    if (!isBackward) group.backward += sums.cpuBackward[node];
  });
  return [...groups.values()].sort((a, b) => b.cpuSelf + b.gpuSelf - a.cpuSelf - a.gpuSelf);
}

// Kernels, copies, sets and graphs by name.
export function groupWork(tree: Tree, sums: TreeSums): Group[] {
  const groups = new Map<number, Group>();
  tree.kind.forEach((kind, node) => {
    if (!isGpuWork(kind)) return;
    const group = groupOf(groups, tree.name[node]);
    group.nodes.push(node);
    group.calls += sums.calls[node];
    group.gpuSelf += sums.self[node];
    if (tree.backward[node] === 1) group.backward += sums.self[node];
  });
  return [...groups.values()].sort((a, b) => b.gpuSelf - a.gpuSelf);
}

function groupOf(groups: Map<number, Group>, name: number): Group {
  let group = groups.get(name);
  if (!group) {
    group =
      {name, nodes: [], calls: 0, cpuSelf: 0, cpuTotal: 0, backward: 0, gpuSelf: 0, gpuTotal: 0};
    groups.set(name, group);
  }
  return group;
}

function insideSameName(tree: Tree, node: number): boolean {
  for (let above = tree.parent[node]; above >= 0; above = tree.parent[above]) {
    const same = tree.kind[above] === TreeKind.operator && tree.name[above] === tree.name[node];
    if (same && tree.backward[above] === tree.backward[node]) return true;
  }
  return false;
}

// The operator, module, phase or range that a node is directly in; -1 = none.
export function ownerOf(tree: Tree, node: number, kind: number): number {
  let above = tree.parent[node];
  while (above >= 0 && tree.kind[above] !== kind) above = tree.parent[above];
  return above;
}

// The module around a node, else the phase or range it is in; -1 = none.
export function placeOf(tree: Tree, node: number): number {
  const module = ownerOf(tree, node, TreeKind.module);
  if (module >= 0) return module;
  let above = tree.parent[node];
  while (above >= 0 && tree.kind[above] === TreeKind.operator) above = tree.parent[above];
  return above;
}

// Sums of `nodes` by what `key` says of each (-1 is left out), by falling time.
export function sumBy(
  nodes: readonly number[],
  key: (node: number) => number,
  calls: (node: number) => number,
  time: (node: number) => number,
  ): {key: number; calls: number; time: number}[] {
  const found = new Map < number, {
    key: number;
    calls: number;
    time: number
  }
  > ();
  for (const node of nodes) {
    const name = key(node);
    if (name < 0) continue;
    const entry = found.get(name) ?? {key: name, calls: 0, time: 0};
    entry.calls += calls(node);
    entry.time += time(node);
    found.set(name, entry);
  }
  return [...found.values()].sort((a, b) => b.time - a.time);
}
