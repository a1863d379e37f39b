import assert from "node:assert/strict";
import {test} from "node:test";
import {kNoItems} from "../data/items";
import {snapped} from "./snap";

const items = {
  ...kNoItems,
  from: 100,
  step: 10,
  count: 2,
  start: Uint32Array.of(1, 5),
  width: Uint32Array.of(2, 3),
  ref: Uint32Array.of(7, 8),
};

test("the nearest edge within reach", () => {
  assert.deepEqual(snapped(items, 112, 5), {time: 110, of: {ref: 7, end: false}});
  assert.deepEqual(snapped(items, 128, 5), {time: 130, of: {ref: 7, end: true}});
  assert.deepEqual(snapped(items, 149, 5), {time: 150, of: {ref: 8, end: false}});
  assert.deepEqual(snapped(items, 140, 5), {time: 140, of: null});
  assert.deepEqual(snapped(items, 178, 5), {time: 180, of: {ref: 8, end: true}});
  assert.deepEqual(snapped({...items, count: 0}, 7, 5), {time: 7, of: null});
});
