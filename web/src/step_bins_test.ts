import assert from "node:assert/strict";
import {test} from "node:test";
import type {PageData} from "./data";
import {sampleSteps} from "./sample_steps";
import {binScope, selectedBins, stepNumber, touchedBins} from "./step_bins";

const kStarts = [0, 2, 6];
const kCounts = [0, 1, 1];  // the first two steps are warm-up

test("a selection stands for the bins that it touches, of those for the ones that count", () => {
  assert.deepEqual(touchedBins(kStarts, {first: 1, last: 2}), [0, 1]);
  assert.deepEqual(selectedBins(kStarts, kCounts, {first: 1, last: 2}), [1]);
  assert.deepEqual(selectedBins(kStarts, kCounts, {first: 0, last: 1}), [0]);
  assert.deepEqual(selectedBins(kStarts, kCounts, {first: 7, last: 900}), [2]);
  assert.deepEqual(selectedBins(kStarts, kCounts, null), [1, 2]);
});

test("the scope says when bins are wider than the selection, and when part of it does not count",
  () => {
    const steps = sampleSteps([9, 9, 1, 1, 1, 1, 1, 1], [1, 1]);
    steps.number = steps.number.map((number) => number + 100);
    const page = {bin_starts: kStarts, training: [{process: "", tracks: [steps]}]} as unknown as
      PageData;
    assert.deepEqual(
      binScope(page, {first: 3, last: 3}), {first: 2, last: 5, wider: true, partly: false});
    assert.deepEqual(
      binScope(page, {first: 0, last: 5}), {first: 0, last: 5, wider: false, partly: true});
    assert.deepEqual(
      binScope(page, {first: 0, last: 1}), {first: 0, last: 1, wider: false, partly: false});
    assert.deepEqual(
      binScope(page, {first: 6, last: 9}), {first: 6, last: 7, wider: false, partly: false});
    assert.equal(stepNumber(page, 5), 105);
  });
