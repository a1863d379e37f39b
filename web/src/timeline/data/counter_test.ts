import assert from "node:assert/strict";
import {test} from "node:test";
import {counterText, sampleAt, sampleText} from "./counter";

const samples = {
  from: 100,
  step: 10,
  count: 3,
  start: Uint32Array.of(1, 3, 6),
  least: Float64Array.of(2, 1, NaN),
  most: Float64Array.of(4, 9, NaN),
  last: Float64Array.of(3, 5, NaN),
};

test("a value holds until the next one; within a step it is from the least to the greatest", () => {
  assert.equal(sampleAt(samples, 105), null);
  assert.deepEqual(sampleAt(samples, 110), {least: 2, most: 4});
  assert.deepEqual(sampleAt(samples, 120), {least: 3, most: 3});
  assert.deepEqual(sampleAt(samples, 139), {least: 1, most: 9});
  assert.deepEqual(sampleAt(samples, 159), {least: 5, most: 5});
  assert.equal(sampleAt(samples, 160), null);
  assert.equal(sampleAt(samples, 1000), null);
});

test("a counter is told in its unit", () => {
  assert.equal(counterText("bytes", 2 ** 29), "512 MiB");
  assert.equal(counterText("bytes/s", 2 ** 10), "1.00 KiB/s");
  assert.equal(counterText("", 1.5), "1.50");
  assert.equal(sampleText("", {least: 1, most: 2}), "1.00 to 2.00");
  assert.equal(sampleText("", null), "not known");
});
