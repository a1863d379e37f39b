// Bins of consecutive steps, as the analysis adds them up for GPUs, ranks and memory. A selection
// of steps means all bins that it touches.
import {kSteady} from "./data";
import type {PageData} from "./data";

// Steps by their place in the run, inclusive; null = the steps that count.
export type StepRange = {
  first: number; last: number
}|null;

// The first step after those of a bin. Of two bins with the same first step one holds the steps
// that count, one the others.
export function endOfBin(firstStep: readonly number[], bin: number): number {
  return firstStep.find((first) => first > firstStep[bin]) ?? Infinity;
}

// The bins that hold a step of the selection; all bins without a selection.
export function touchedBins(firstStep: readonly number[], range: StepRange): number[] {
  return firstStep.flatMap((first, bin) => {
    if (!range) return [bin];
    return first <= range.last && range.first < endOfBin(firstStep, bin) ? [bin] : [];
  });
}

// Of those, the ones that count, or all if none does.
export function selectedBins(
  firstStep: readonly number[], counts: readonly number[], range: StepRange): number[] {
  const touched = touchedBins(firstStep, range);
  const counted = touched.filter((bin) => counts[bin] === 1);
  return counted.length > 0 ? counted : touched;
}

// The steps that a selection means.
export interface BinScope {
  first: number;  // rows of steps
  last: number;
  wider: boolean;   // than the selection, because bins have several steps
  partly: boolean;  // some of it does not count, and is left out
}

export function binScope(page: PageData, range: NonNullable<StepRange>): BinScope {
  const steps = page.training[0].tracks[0];
  const touched = touchedBins(page.bin_starts, range);
  const end = steps.count - 1;
  const asked = Math.min(range.last, end);
  const first = page.bin_starts[touched[0]] ?? range.first;
  const last = (page.bin_starts[touched[touched.length - 1] + 1] ?? end + 1) - 1;
  const kinds =
    steps.kind.slice(Math.floor(first / steps.group), Math.floor(last / steps.group) + 1);
  const partly = kinds.includes(kSteady) && kinds.some((kind) => kind !== kSteady);
  return {first, last, wider: first < range.first || last > asked, partly};
}

// The number of a step, given its row; within a group, step numbers are assumed to be consecutive.
export function stepNumber(page: PageData, row: number): number {
  const {number, group} = page.training[0].tracks[0];
  const entry = Math.min(number.length - 1, Math.floor(row / group));
  return number[entry] + (row - entry * group);
}
