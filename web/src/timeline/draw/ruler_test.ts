import assert from "node:assert/strict";
import {test} from "node:test";
import {finer, placeBeside, placeOfMoment, tickDistance, touch} from "./ruler";

test(
  "the length of a range stands in its middle, else at its end, never over a step's name", () => {
    const range = {from: 100, to: 200};
    assert.equal(placeBeside(range, 40, []), 130);
    assert.equal(placeBeside(range, 40, [{x: 104, width: 20}]), 130);
    assert.equal(placeBeside(range, 40, [{x: 104, width: 40}]), 154);
    assert.equal(placeBeside(range, 40, [{x: 104, width: 40}, {x: 190, width: 40}]), undefined);
    assert.equal(placeBeside({from: 100, to: 130}, 40, []), undefined);
  });

test("the time of a moment near the edge stands before it", () => {
  assert.equal(placeOfMoment(100, 40, 9, 400), 109);
  assert.equal(placeOfMoment(380, 40, 9, 400), 331);
  assert.ok(touch({x: 331, width: 40}, {x: 310, width: 20}));
  assert.ok(!touch({x: 331, width: 40}, {x: 300, width: 20}));
  assert.ok(!touch({x: 331, width: 40}, {x: 380, width: 20}));
});

test("ticks lie closer by 1, 2 and 5 times a power of ten", () => {
  assert.deepEqual([1000, 500, 200, 100].map(finer), [500, 200, 100, 50]);
  const distances = [2e9];
  while (distances.length < 20) distances.push(finer(distances[distances.length - 1]));
  for (const distance of distances) assert.equal(tickDistance(distance, 1), distance);
});
