// Steps for unit tests: a quarter of each is data loading, the rest forward.
import type {Steps} from "./data";

export function sampleSteps(durations: number[], kinds: number[]): Steps {
  let start = 0;
  return {
    track: "CPU",
    facts: [],
    group: 1,
    count: durations.length,
    phases: [
      {key: "data_loading", label: "data loading", help: ""},
      {key: "forward", label: "forward", help: ""},
    ],
    number: durations.map((_, i) => i),
    start_ns: durations.map((ns) => (start += ns) - ns),
    duration_ns: durations,
    duration_max_ns: durations,
    kind: durations.map((_, i) => kinds[i] ?? 0),
    outlier: [],
    outlier_phases: [],
    outlier_stage: [],
    rules: {
      median_ns: {kind: "quantile", of: "ns", percent: 50},
      p5_ns: {kind: "quantile", of: "ns", percent: 5},
      p95_ns: {kind: "quantile", of: "ns", percent: 95},
      mean_ns: {kind: "ratio", of: "ns", per: "steps"},
    },
    fewest_for_percentiles: 5,
    phase_ns: [durations.map((ns) => ns / 4), durations.map((ns) => (3 * ns) / 4)],
    summary: {
      count: durations.length - kinds.filter((kind) => kind !== 0).length,
      median_ns: 0,
      p5_ns: 0,
      p95_ns: 0,
      mean_ns: 0,
      phase_mean_ns: [0, 0],
      phase_median_ns: [0, 0],
      phase_p95_ns: [0, 0],
    },
  };
}
