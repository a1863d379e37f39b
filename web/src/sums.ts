// Recomputes numbers from their parts for the selected steps. What is summed, and how, comes with
// the data: src/analysis/result/sum_rule.h declares the rules and evaluates them too.
// tests/golden/sum_rules.json holds cases for both.
import type {Histogram, Parts, SumRule} from "./data";
import {selectedBins} from "./step_bins";
import type {StepRange} from "./step_bins";

// The parts of some bins.
export interface PickedParts {
  of: Record<string, readonly number[]>;
  histograms?: Record < string, {
    starts: readonly number[];
    counts: readonly number[]
  }
  > ;
}

export function sum(values: readonly number[]): number {
  return values.reduce((all, value) => all + value, 0);
}

function pick(values: readonly number[], bins: readonly number[]): readonly number[] {
  return values.length === 1 ? values : bins.map((bin) => values[bin]);
}

function addUp({starts, first, counts}: Histogram, bins: readonly number[]): number[] {
  const sums = starts.map(() => 0);
  for (const bin of bins) counts[bin].forEach((count, i) => (sums[first[bin] + i] += count));
  return sums;
}

export function pickParts(parts: Parts, bins: readonly number[]): PickedParts {
  const of = Object.entries(parts.of).map(([key, values]) => [key, pick(values, bins)]);
  const histograms = Object.entries(parts.histograms ?? {})
                       .map(([key, histogram]) => [key,
                              {starts: histogram.starts, counts: addUp(histogram, bins)},
  ]);
  return {of: Object.fromEntries(of), histograms: Object.fromEntries(histograms)};
}

// The parts of the selected steps: of their bins those that count, or all if none does.
export function partsOver(
  parts: Parts, firstStep: readonly number[], range: StepRange): PickedParts {
  return pickParts(parts, selectedBins(firstStep, parts.counts ?? [], range));
}

// Interpolated between the two nearest in order, as src/analysis/numbers/quantile.h does.
export function quantile(values: readonly number[], percent: number): number|null {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  const place = ((sorted.length - 1) * percent) / 100;
  const below = Math.floor(place);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
}

// null: no value.
export function evaluate(rule: SumRule, parts: PickedParts): number|null {
  if (rule.kind === "percentile") return percentile(rule, parts);
  const of = parts.of[rule.of];
  const scale = rule.scale === undefined ? [1] : parts.of[rule.scale];
  if (!of || !scale) return null;
  const all = gather(rule, of);
  if (all === null) return null;
  const scaled = all * scale[0] * (rule.factor ?? 1);
  const value = rule.kind === "ratio" ? ratio(rule, scaled, parts) : scaled;
  return value === null || rule.at_most === undefined ? value : Math.min(value, rule.at_most);
}

function gather(rule: SumRule, of: readonly number[]): number|null {
  if (rule.kind === "quantile") return quantile(of, rule.percent ?? 50);
  return rule.kind === "most" ? of.reduce((most, one) => Math.max(most, one), 0) : sum(of);
}

function ratio(rule: SumRule, of: number, parts: PickedParts): number|null {
  const per = rule.per === undefined ? undefined : parts.of[rule.per];
  if (!per) return null;
  const whole = sum(per);
  if (whole > 0) return of / whole;
  return rule.zero_if_none ? 0 : null;
}

// Values are taken to spread evenly over the bucket that holds the rank.
function percentile(rule: SumRule, parts: PickedParts): number|null {
  const histogram = parts.histograms?.[rule.of];
  if (!histogram) return null;
  const {starts, counts} = histogram;
  const rank = ((sum(counts) - 1) * (rule.percent ?? 50)) / 100;
  let before = 0;
  for (let bucket = 0; bucket < counts.length; ++bucket) {
    if (counts[bucket] > 0 && rank < before + counts[bucket]) {
      const within = Math.max(0, rank - before + 0.5) / counts[bucket];
      return starts[bucket] + Math.min(1, within) * (starts[bucket + 1] - starts[bucket] - 1);
    }
    before += counts[bucket];
  }
  return null;
}
