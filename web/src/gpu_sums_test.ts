import assert from "node:assert/strict";
import {test} from "node:test";
import type {LaunchQueue, QueueBins, UseBins} from "./data";
import {depthTimes, queueCurve, queueOver, useOver} from "./gpu_sums";
import {bucketStart, latencyPercentiles} from "./latency";

const kUse: UseBins = {
  steps: [1, 2],
  counts: [1, 1],
  time_ns: [1000, 3000],
  busy_ns: [500, 600],
  kernel_ns: [800, 600],
  tensor_ns: [400, 600],
  sm_ns: [250, 150],
  occupancy_ns: [80, 240],
};

test("the numbers of a GPU are ratios of sums, not means of ratios", () => {
  assert.equal(useOver(kUse, [0]).busy.value, "50.0 %");
  const both = useOver(kUse, [0, 1]);
  assert.equal(both.busy.value, "27.5 %");  // 1100 / 4000
  assert.equal(both.sm_efficiency.value, "10.0 %");
  assert.equal(both.occupancy.value, "22.9 %");  // 320 / 1400
  assert.equal(both.tensor_core.value, "71.4 %");
});

test("SMs are at most busy all the time", () => {
  assert.equal(useOver({...kUse, sm_ns: [2000, 0]}, [0]).sm_efficiency.value, "100.0 %");
});

const kQueue: QueueBins = {
  steps: [1, 1],
  counts: [1, 1],
  time_ns: [1000, 1000],
  depth_ns: [2000, 6000],
  empty_ns: [100, 0],
  most: [5, 9],
  first_bucket: [20, 10],
  launches: [[3], [1]],
};

test("the queue's numbers are those of the selected bins", () => {
  const first = queueOver(kQueue, [0]);
  assert.equal(first.median.value, "20.0 ns");
  assert.equal(first.depth.value, "2.00");
  assert.match(first.depth.formula ?? "", /at most 5$/);
  const both = queueOver(kQueue, [0, 1]);
  assert.equal(both.depth.value, "4.00");
  assert.equal(both.empty.value, "5.0 %");
  assert.match(both.depth.formula ?? "", /at most 9$/);
  assert.match(both.p95.formula ?? "", /within 7 %/);
});

test("without launches there is no latency", () => {
  assert.equal(queueOver({...kQueue, launches: [[], []]}, [0]).median.value, "–");
});

// As LatencyCounts::BucketOf in src/analysis/numbers/latency_counts.h.
function bucketOf(ns: number): number {
  if (ns < 32) return ns;
  const exponent = Math.floor(Math.log2(ns)) - 4;
  return exponent * 16 + Math.floor(ns / 2 ** exponent);
}

test("percentiles from buckets are within a sixteenth of the exact ones", () => {
  const values: number[] = [];
  for (let i = 0; i < 5000; ++i) values.push(Math.floor(3000 * 1.0012 ** i));  // 3 µs to 1.2 s
  const counts: number[] = [];
  for (const ns of values) {
    const bucket = bucketOf(ns);
    assert.ok(bucketStart(bucket) <= ns && ns < bucketStart(bucket + 1));
    counts[bucket] = (counts[bucket] ?? 0) + 1;
  }
  const launches = Array.from(counts, (count) => count ?? 0);
  for (const percent of [5, 50, 95]) {
    const [found] = latencyPercentiles({first_bucket: [0], launches: [launches]}, [0], [percent]);
    const exact = values[Math.round((percent / 100) * (values.length - 1))];
    assert.ok(Math.abs(found / exact - 1) < 1 / 16, `${percent}: ${found} for ${exact}`);
  }
});

test(
  "the curve shown is of a selected step near the median, else of the nearest that has one", () => {
    const curve = (row: number, length: number) =>
      ({row, step: row, means: false, time_ns: [0, length], depth: [0, 0]});
    const queue = {
      shown: curve(10, 50),
      curves: [curve(2, 90), curve(10, 50), curve(12, 60), curve(20, 55)]
    };
    const shown = (first: number, last: number, median: number) => {
      const {curve, inside} = queueCurve(queue as unknown as LaunchQueue, {first, last}, median);
      return [curve.row, inside];
    };
    assert.deepEqual(shown(9, 13, 61), [12, true]);
    assert.deepEqual(shown(0, 30, 54), [20, true]);
    assert.deepEqual(shown(4, 5, 60), [2, false]);
    assert.deepEqual(shown(15, 16, 60), [12, false]);
  });

test("means lie over equal parts of the step", () => {
  assert.deepEqual(
    depthTimes({row: 0, step: 0, means: true, time_ns: [900], depth: [1, 2.5, 0, 0]}),
    [0, 300, 600, 900]);
  assert.deepEqual(
    depthTimes({row: 0, step: 0, means: false, time_ns: [0, 5, 9], depth: [1, 2, 0]}), [0, 5, 9]);
});
