import assert from "node:assert/strict";
import {test} from "node:test";
import {roundedTo} from "./events_panel";

test("what is rounded is told, and nothing of times as they were recorded", () => {
  assert.equal(roundedTo({cut: false, step: 1}), null);
  assert.equal(roundedTo({cut: false, step: 1024}), 1024);
  assert.equal(roundedTo({cut: true, step: 1024}), 2048);
});
