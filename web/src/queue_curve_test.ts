import assert from "node:assert/strict";
import {test} from "node:test";
import type {LaunchQueue} from "./data";
import {depthTimes, queueCurve} from "./queue_curve";

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
