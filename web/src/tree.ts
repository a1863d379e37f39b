// Sums over the attribution tree, for the steps and the rank that the reader has selected. Every
// view of modules, operators and kernels takes its numbers from here, computed from the same nodes.
import type {Column, StepBins, Tree, TreeColumn, TreeGroups, TreeSum, TreeTimes} from "./data";
import {endOfBin, selectedBins} from "./step_bins";
import type {StepRange} from "./step_bins";
import {evaluate} from "./sums";

type Binned = {
  bins: StepBins
};

export interface TreeSums {
  steps: number;    // 1 where there are none
  step_ns: number;  // mean step that counts, of the same ranks; without steps all CPU time
  // Per node and step, of the node alone.
  own: {
    calls: Float64Array; self: Float64Array;  // CPU time of a call, GPU time of work
    beside: Float64Array;                     // CPU time on threads that the step does not wait for
    launched: Float64Array;                   // work directly below it
  };
  inside: Record<string, Float64Array>;  // with all that is inside, by Tree.times
  whole: Record<string, number>;         // the same of all roots
}

export function isGpuWork(tree: Tree, node: number): boolean {
  return tree.kinds[tree.kind[node]].work;
}

// Whether a node is of a kind, by its key.
export function isKind(tree: Tree, node: number, kind: string): boolean {
  return tree.kinds[tree.kind[node]].key === kind;
}

// The bins that a selection means: those that count, or all of its bins if none does.
export function binsOf(times: Binned, range: StepRange): number[] {
  const {first_step, counts} = times.bins;
  return first_step.length === 0 ? [0] : selectedBins(first_step, counts, range);
}

function endOf({bins: {first_step}}: Binned, bin: number): number {
  return endOfBin(first_step, bin);
}

// Steps of the longest bin that a selection covers only in part, in a run of `all` steps; 0:
// exactly the selected steps are summed.
export function coarseness(times: Binned, range: StepRange, all: number): number {
  if (!range || times.bins.first_step.length === 0) return 0;
  const lengths = binsOf(times, range).map((bin) => {
    const [first, end] = [times.bins.first_step[bin], Math.min(all, endOf(times, bin))];
    return first < range.first || end - 1 > range.last ? end - first : 0;
  });
  return Math.max(...lengths);
}

// The steps of the bins that a selection means.
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
    own: {calls: make(), self: make(), beside: make(), launched: make()},
    inside: Object.fromEntries(tree.times.map(({key}) => [key, make()])),
    whole: Object.fromEntries(tree.times.map(({key}) => [key, 0])),
  };
  const perStep = (values: readonly number[]|0): number =>
    (values === 0 ? 0 : bins.reduce((sum, bin) => sum + values[bin], 0) / steps);
  for (let node = 0; node < size; ++node) {
    const calls = times.calls[node];
    sums.own.calls[node] = typeof calls === "number" ? calls : perStep(calls);
    sums.own.self[node] = perStep(times.self_ns[node]);
    sums.own.beside[node] = perStep(times.beside_ns[node]);
  }
  addOwn(tree, sums);
  addUp(tree, sums);
  if (!tree.per_step) sums.step_ns = sums.whole.cpu;
  return sums;
}

// Whether a time or a sum is of a node.
function isOf(
  tree: Tree, node: number, {work, backward}: {work?: boolean; backward?: boolean}): boolean {
  return (work === undefined || work === isGpuWork(tree, node)) &&
    (backward === undefined || backward === (tree.backward[node] === 1));
}

function addOwn(tree: Tree, sums: TreeSums): void {
  for (const time of tree.times) {
    const inside = sums.inside[time.key];
    (time.beside ? sums.own.beside : sums.own.self).forEach((own, node) => {
      if (isOf(tree, node, time)) inside[node] = own;
    });
  }
}

function addUp(tree: Tree, sums: TreeSums): void {
  for (let node = tree.kind.length - 1; node >= 0; --node) {
    const parent = tree.parent[node];
    if (parent >= 0 && isGpuWork(tree, node)) sums.own.launched[parent] += sums.own.self[node];
    for (const {key} of tree.times) {
      const inside = sums.inside[key];
      if (parent >= 0) inside[parent] += inside[node];
      else sums.whole[key] += inside[node];
    }
  }
}

// The columns with something to show: without a GPU, its columns have nothing.
export function columnsWith(columns: readonly TreeColumn[], sums: TreeSums): TreeColumn[] {
  return columns.filter(({only_with}) => (only_with ?? []).every((key) => sums.whole[key] > 0));
}

// The number of a column, computed from the `times` of a node or of a group.
export function numberOf(column: Column, sums: TreeSums, times: Record<string, number>): number|
  null {
  if (!column.sum) return null;
  const of: Record<string, number[]> = {step: [sums.step_ns], all_gpu: [sums.whole.gpu]};
  for (const key of [column.sum.of, column.sum.per])
    if (key !== undefined && key in times) of[key] = [times[key]];
  return evaluate(column.sum, {of});
}

// The quantities that the rules of Tree.columns name.
export function timesOfNode(tree: Tree, sums: TreeSums, node: number): Record<string, number> {
  const times: Record<string, number> = {};
  for (const {key} of tree.times) times[key] = sums.inside[key][node];
  addSums(tree, sums, tree.sums, node, times);
  return times;
}

function addSums(tree: Tree, sums: TreeSums, declared: readonly TreeSum[], node: number,
  to: Record<string, number>): void {
  const own: Record<string, Float64Array> = sums.own;
  for (const sum of declared) {
    const is = isOf(tree, node, sum) && !(sum.outermost && insideSameName(tree, node));
    to[sum.key] = (to[sum.key] ?? 0) + (is ? (own[sum.of] ?? sums.inside[sum.of])[node] : 0);
  }
}

// The sums of one name over all places where it was called.
export interface Group {
  name: number;  // string
  nodes: number[];
  times: Record<string, number>;  // by TreeGroups.sums
}

export function groupByName(tree: Tree, sums: TreeSums, declared: TreeGroups): Group[] {
  const groups = new Map<number, Group>();
  tree.kind.forEach((_, node) => {
    if (!(declared.work ? isGpuWork(tree, node) : isKind(tree, node, "operator"))) return;
    const name = tree.name[node];
    const group = groups.get(name) ?? {name, nodes: [], times: {}};
    groups.set(name, group);
    group.nodes.push(node);
    addSums(tree, sums, declared.sums, node, group.times);
  });
  const rank = ({times}: Group): number => declared.order.reduce((sum, key) => sum + times[key], 0);
  return [...groups.values()].sort((a, b) => rank(b) - rank(a));
}

function insideSameName(tree: Tree, node: number): boolean {
  for (let above = tree.parent[node]; above >= 0; above = tree.parent[above]) {
    const same = isKind(tree, above, "operator") && tree.name[above] === tree.name[node];
    if (same && tree.backward[above] === tree.backward[node]) return true;
  }
  return false;
}

// The operator, module, phase or range that a node is directly in; -1 = none.
export function ownerOf(tree: Tree, node: number, kind: string): number {
  let above = tree.parent[node];
  while (above >= 0 && !isKind(tree, above, kind)) above = tree.parent[above];
  return above;
}

// The module around a node, else the phase or range it is in; -1 = none.
export function placeOf(tree: Tree, node: number): number {
  const module = ownerOf(tree, node, "module");
  if (module >= 0) return module;
  let above = tree.parent[node];
  while (above >= 0 && isKind(tree, above, "operator")) above = tree.parent[above];
  return above;
}

// Sums of `nodes`, grouped by what `key` gives for each (-1 is left out), ordered by falling time.
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
