import assert from "node:assert/strict";
import {test} from "node:test";
import {columnsFor} from "../../charts/columns";
import type {RunAnswer, StepsInfo} from "./protocol";
import {columnWords, kindOf, longestIn, phasesOf, stepWords, timesOf} from "./step_times";

// Steps 10, 11, ..., of these lengths in ms; the first is warm-up.
function stepsOf(lengths: number[], outlier: number[] = [], group = 1): StepsInfo {
  const to =
    lengths.map((_, i) => 1e6 * lengths.slice(0, i + 1).reduce((sum, one) => sum + one, 0));
  const us = Array.from({length: Math.ceil(lengths.length / group)},
    (_, i) => 1000 * lengths.slice(i * group, (i + 1) * group).reduce((a, b) => a + b, 0) / group);
  return {
    count: lengths.length,
    number: lengths.map((_, i) => 10 + i),
    from: to.map((end, i) => end - 1e6 * lengths[i]),
    to,
    steady: lengths.map((_, i) => i).slice(1),
    median: 1e6 * [...lengths.slice(1)].sort((a, b) => a - b)[(lengths.length - 1) >> 1],
    outlier,
    kinds: [[0, "warm-up"], [1, "steady"]],
    phases: {group, names: [7, 5], us: [us.map((one) => 0.75 * one), us.map((one) => one / 4)]},
  } as unknown as StepsInfo;
}

test("a step is a column with its phases while there is room", () => {
  const steps = stepsOf([50, 10, 10, 40, 10], [3]);
  const columns = columnsFor(timesOf(steps), 100, 2);
  assert.deepEqual(columns.map(({duration_ns}) => duration_ns), [50e6, 10e6, 10e6, 40e6, 10e6]);
  assert.deepEqual(columns[3].phase_ns, [30e6, 10e6]);
  assert.deepEqual(columns.map(({kind}) => kind), [1, 0, 0, 0, 0]);
  assert.deepEqual(columns.map(({has_outlier}) => has_outlier), [false, false, false, true, false]);
});

test("with more steps than pixels a column tells of its worst", () => {
  const steps = stepsOf(Array.from({length: 1000}, (_, i) => i === 321 ? 90 : 10), [321]);
  const columns = columnsFor(timesOf(steps), 200, 2);
  assert.equal(columns.length, 100);
  const worst = columns.filter(({longest_ns}) => longest_ns === 90e6);
  assert.deepEqual(
    worst.map(({first, last, has_outlier}) => [first, last, has_outlier]), [[320, 329, true]]);
  assert.equal(longestIn(steps, worst[0]), 321);
  assert.deepEqual(columnWords(steps, worst[0]), [
    "steps 330 to 339",
    "18.0 ms on average; longest of these 10: step 331, 90.0 ms, unusually long: 9.00 times the median",
  ]);
});

test("phases of several steps together are each step's", () => {
  const steps = stepsOf([10, 20, 30, 40], [], 2);
  assert.deepEqual(Array.from(timesOf(steps).phase_ns[1]), [3.75e6, 3.75e6, 8.75e6, 8.75e6]);
});

test("a step is told with its kind", () => {
  const steps = stepsOf([50, 10, 10]);
  assert.deepEqual(stepWords(steps, 0), ["step 10", "50.0 ms, warm-up"]);
  assert.deepEqual(stepWords(steps, 2), ["step 12", "10.0 ms"]);
  assert.equal(kindOf({...steps, kinds: []}, 1), "");
  assert.deepEqual(stepWords({...steps, kinds: []}, 0), ["step 10", "50.0 ms"]);
});

test("phases have the report's palette", () => {
  const run = {
    palettes: {
      phase: [
        {name: 5, key: "forward", label: "forward", idle: false},
        {name: 7, key: "backward", label: "backward", idle: false}
      ]
    }
  };
  assert.deepEqual(phasesOf(run as unknown as RunAnswer, stepsOf([1, 1])).map(({key}) => key),
    ["backward", "forward"]);
});

test("ranges that are not among the longest are one row", () => {
  const steps = stepsOf([1, 1]);
  steps.phases = {group: 1, names: [5, -1], us: [[600, 700], [400, 300]]};
  const run = {palettes: {phase: [{name: 5, key: "range", label: "sample", idle: false}]}};
  const phases = phasesOf(run as unknown as RunAnswer, steps);
  assert.deepEqual(phases.map(({label}) => label), ["sample", "other ranges"]);
  assert.deepEqual(Array.from(timesOf(steps).phase_ns[1]), [400e3, 300e3]);
});
