import assert from "node:assert/strict";
import {test} from "node:test";
import {rangeOf} from "./range_form";

test("numbers find their entries, whatever their order", () => {
  assert.deepEqual(rangeOf([10, 11, 12, 13], 11, 12), {first: 1, last: 2});
  assert.deepEqual(rangeOf([10, 11, 12, 13], 12, 11), {first: 1, last: 2});
});

test("an entry of several steps is found by any of them", () => {
  assert.deepEqual(rangeOf([0, 4, 8], 5, 7), {first: 1, last: 1});
});

test("numbers outside of the run give its ends", () => {
  assert.deepEqual(rangeOf([10, 11, 12], -5, 99), {first: 0, last: 2});
  assert.deepEqual(rangeOf([10, 11, 12], 99, 100), {first: 2, last: 2});
});
