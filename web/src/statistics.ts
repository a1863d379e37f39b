// The few statistics that the page recomputes when the reader selects steps. They match
// src/analysis to the digit: selecting the steps that the analysis used gives its numbers.

// Linear interpolation between closest ranks (type 7, as NumPy's default). NaN when empty.
export function percentile(sorted: readonly number[], percent: number): number {
  if (sorted.length === 0) return NaN;
  const rank = ((sorted.length - 1) * percent) / 100;
  const below = Math.floor(rank);
  const above = Math.min(below + 1, sorted.length - 1);
  return sorted[below] + (rank - below) * (sorted[above] - sorted[below]);
}

export function ascending(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b);
}

export function mean(values: readonly number[]): number {
  let sum = 0;
  for (const value of values) sum += value;
  return values.length === 0 ? NaN : sum / values.length;
}

export function maximum(values: readonly number[]): number {
  let largest = -Infinity;
  for (const value of values) largest = Math.max(largest, value);
  return largest;
}
