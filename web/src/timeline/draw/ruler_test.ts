import assert from "node:assert/strict";
import {test} from "node:test";
import {placeBeside, placeOfMoment, touch} from "./ruler";

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
