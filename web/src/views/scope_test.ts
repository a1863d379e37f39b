import assert from "node:assert/strict";
import {test} from "node:test";
import {fromSteps} from "./scope";

test("selected steps are not told to be those of the run that have detail", () => {
  const page = {from_steps: "from 41 of 600 steps"};
  assert.equal(fromSteps(page, null), ", from 41 of 600 steps");
  assert.equal(fromSteps(page, {first: 3, last: 7}), "");
  assert.equal(fromSteps({from_steps: ""}, null), "");
});
