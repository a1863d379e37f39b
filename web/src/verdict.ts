// What limits a step, in one sentence: the first thing that a reader looks for.
import {percent} from "./format";
import {aggregate, largestPhase} from "./selection";
import type {Aggregate, Range} from "./selection";
import type {Steps} from "./data";

export interface Verdict {
  track: number;  // that it is about
  before: string;
  share: string;  // "58.3 %"
  between: string;
  phase: string;  // "forward"
}

function idleOf(numbers: Aggregate, {phases}: Steps): number {
  return phases.reduce((sum, {idle}, i) => (idle ? sum + numbers.phase_mean_ns[i] : sum), 0);
}

function isLimit(numbers: Aggregate, gpu: Steps): boolean {
  return idleOf(numbers, gpu) <= (gpu.idle_of_limit ?? 0) * numbers.mean_ns;
}

// Whether the GPU works nearly all the time of the steps that count.
export function gpuIsLimit(tracks: readonly Steps[]): boolean {
  if (tracks.length < 2 || tracks[1].phases.length === 0) return false;
  const numbers = aggregate(tracks[1], null);
  return numbers.mean_ns > 0 && isLimit(numbers, tracks[1]);
}

// If the GPU works nearly all the time, what the CPU does meanwhile explains nothing.
function ofGpu(gpu: Steps, range: Range|null): Verdict|null {
  const numbers = aggregate(gpu, range);
  if (numbers.mean_ns === 0 || gpu.phases.length === 0) return null;
  const parts = gpu.phases.map(({idle, label}, i) => ({idle, label, ns: numbers.phase_mean_ns[i]}));
  const longest = (some: typeof parts): (typeof parts)[0] =>
    some.reduce((a, b) => (b.ns > a.ns ? b : a), {idle: undefined, label: "", ns: 0});
  const waits = parts.filter(({idle}) => idle);
  const idle_ns = idleOf(numbers, gpu);
  if (isLimit(numbers, gpu)) {
    const share = percent(numbers.mean_ns - idle_ns, numbers.mean_ns);
    return {
      track: 1,
      before: `${gpu.track} is the limit: it works `,
      share,
      between: " of the mean step, most on ",
      phase: longest(parts.filter(({idle}) => !idle)).label
    };
  }
  const {where, cause} = longest(waits).idle ?? {where: "", cause: ""};
  return {
    track: 1,
    before: `${gpu.track} is idle `,
    share: percent(idle_ns, numbers.mean_ns),
    between: ` of the mean step, most ${where}`,
    phase: cause
  };
}

// `tracks`: of one process, the CPU first. null: nothing is known.
export function verdictOf(tracks: readonly Steps[], range: Range|null): Verdict|null {
  if (tracks.length > 1) {
    const gpu = ofGpu(tracks[1], range);
    if (gpu) return gpu;
  }
  const numbers = aggregate(tracks[0], range);
  const largest = largestPhase(numbers);
  if (largest < 0) return null;
  const share = percent(numbers.phase_mean_ns[largest], numbers.mean_ns);
  return {
    track: 0,
    before: "",
    share,
    between: " of the mean step is ",
    phase: tracks[0].phases[largest].label
  };
}
