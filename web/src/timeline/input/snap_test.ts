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
  width: Uint32Array.of(2, 3)
};

test("the nearest edge within reach", () => {
  assert.equal(snapped(items, 112, 5), 110);
  assert.equal(snapped(items, 128, 5), 130);
  assert.equal(snapped(items, 149, 5), 150);
  assert.equal(snapped(items, 140, 5), 140);
  assert.equal(snapped(items, 178, 5), 180);
  assert.equal(snapped({...items, count: 0}, 7, 5), 7);
});
