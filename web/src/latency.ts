// Percentiles of latencies from counts in buckets, as src/analysis/numbers/latency_counts.h makes
// them: a bucket is at most a sixteenth of its latency wide.

import type {LatencyCounts} from "./data";

export const kLatencyResolution = 1 / 16;

// Where a bucket begins, in ns.
export function bucketStart(bucket: number): number {
  if (bucket < 32) return bucket;
  return (16 + (bucket % 16)) * 2 ** (Math.floor(bucket / 16) - 1);
}

function addUp(counts: LatencyCounts, bins: readonly number[]): number[] {
  const sums: number[] = [];
  for (const bin of bins) {
    counts.launches[bin].forEach((launches, i) => {
      const bucket = counts.first_bucket[bin] + i;
      while (sums.length <= bucket) sums.push(0);
      sums[bucket] += launches;
    });
  }
  return sums;
}

// In ns, spread evenly over the bucket that holds the rank; NaN without launches.
export function latencyPercentiles(
  counts: LatencyCounts, bins: readonly number[], percents: readonly number[]): number[] {
  const sums = addUp(counts, bins);
  const all = sums.reduce((a, b) => a + b, 0);
  return percents.map((percent) => {
    const rank = ((all - 1) * percent) / 100;
    let before = 0;
    for (let bucket = 0; bucket < sums.length; ++bucket) {
      if (sums[bucket] > 0 && rank < before + sums[bucket]) {
        const start = bucketStart(bucket);
        const within = Math.max(0, rank - before + 0.5) / sums[bucket];
        return start + Math.min(1, within) * (bucketStart(bucket + 1) - start - 1);
      }
      before += sums[bucket];
    }
    return NaN;
  });
}
