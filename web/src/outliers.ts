// What was longer in a step that took unusually long: its phases, as the analysis has them, and, if
// the page holds that step by itself, the calls whose own time grew.
import type {PageData, Steps, Tree, TreeTimes} from "./data";
import {isGpuWork, timesOf} from "./tree";

export interface Excess {
  name: string;
  ns: number;  // above the median (phases) or the mean (calls) of the steps that count
}

export interface Outlier {
  entry: number;  // of Steps
  step: number;   // its number
  ns: number;
  above_ns: number;  // the median
  // What the better half of it is, where that is not the loop's own stage; all of its ns in it.
  stage: Excess|null;
  phases: Excess[];
  calls: Excess[];
}

// Ordered by falling excess, down to a tenth of the largest.
function largest(all: Excess[]): Excess[] {
  const sorted = all.filter(({ns}) => ns > 0).sort((a, b) => b.ns - a.ns);
  return sorted.filter(({ns}) => ns * 10 >= sorted[0].ns);
}

export function findOutliers(page: PageData, steps: Steps): Outlier[] {
  const {tree} = page;
  const rank = page.training.findIndex(({tracks}) => tracks.includes(steps));
  return steps.outlier.map((entry, i) => {
    const ns = steps.duration_max_ns[entry];
    const phases = steps.outlier_phases[i] ?? [];
    const stage = steps.outlier_stage[i];
    const above_ns = ns - steps.summary.median_ns;
    const calls =
      steps.group === 1 && tree ? longerCalls(tree, timesOf(tree, rank), page.strings, entry) : [];
    return {
      entry,
      step: steps.number[entry],
      ns,
      above_ns,
      stage: stage ? {name: stage[0], ns: stage[1]} : null,
      phases:
        phases.map(([phase, longer_ns]) => ({name: steps.phases[phase].label, ns: longer_ns})),
      calls: largest(calls.filter((call) => call.ns * 5 >= above_ns)).slice(0, 3),
    };
  });
}

function longerCalls(
  tree: Tree, times: TreeTimes, strings: readonly string[], step: number): Excess[] {
  const {first_step, counts, steps} = times.bins;
  const bin = first_step.indexOf(step);
  const isAlone = bin >= 0 && (first_step[bin + 1] ?? step + 1) === step + 1;
  if (!isAlone || steps[bin] !== 1) return [];
  const counted = counts.flatMap((does, other) => (does === 1 && other !== bin ? [other] : []));
  const total = counted.reduce((sum, other) => sum + steps[other], 0);
  if (total === 0) return [];
  const excess = new Map<number, number>();
  tree.kind.forEach((_, node) => {
    if (isGpuWork(tree, node)) return;
    const self = times.self_ns[node];
    if (self === 0) return;
    const usual = counted.reduce((sum, other) => sum + self[other], 0) / total;
    const name = tree.name[node];
    excess.set(name, (excess.get(name) ?? 0) + self[bin] - usual);
  });
  return [...excess].map(([name, ns]) => ({name: strings[name], ns}));
}
