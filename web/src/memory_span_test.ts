import assert from "node:assert/strict";
import {test} from "node:test";
import type {MemoryCurve} from "./data";
import {memorySpan} from "./memory_span";

// Held: 100 from 5, 700 from 20, 300 from 30, 400 from 45.
const kCurve = {
  time_ns: [5, 20, 30, 45],
  bytes: [100, 700, 300, 400],
  bins: {
    from_ns: [0, 25, 40, 0],
    to_ns: [25, 40, 60, 0],
    allocations_before: [0, 7, 8, 0],
    allocations_until: [7, 8, 10, 0],
  },
} as unknown as MemoryCurve;
const kStarts = [0, 2, 4, 6];

test("what is held when the steps begin counts for their peak", () => {
  const span = memorySpan(kCurve, kStarts, {first: 2, last: 3});
  assert.deepEqual(span, {from_ns: 25, to_ns: 40, points: [1, 2], peak: 1, allocations: 1});
});

test("what comes after the steps does not", () => {
  assert.equal(memorySpan(kCurve, kStarts, {first: 3, last: 5})?.allocations, 3);
  assert.deepEqual(memorySpan(kCurve, kStarts, {first: 0, last: 0})?.points, [0, 1]);
});

test("no span without a selection, or where the process has no steps", () => {
  assert.equal(memorySpan(kCurve, kStarts, null), null);
  assert.equal(memorySpan(kCurve, kStarts, {first: 6, last: 6}), null);
  assert.equal(memorySpan({...kCurve, bins: null}, kStarts, {first: 0, last: 0}), null);
});

test("before the first allocation nothing is held", () => {
  const late = {...kCurve, time_ns: [50, 51, 52, 53]};
  assert.deepEqual(memorySpan(late, kStarts, {first: 0, last: 0})?.points, []);
  assert.equal(memorySpan(late, kStarts, {first: 0, last: 0})?.peak, -1);
});
