import assert from "node:assert/strict";
import {test} from "node:test";
import {letterScale} from "./letters";

test("letters grow with the window, of a usual one they do not", () => {
  assert.deepEqual([390, 1440, 2560, 3840, 7680].map(letterScale), [1, 1, 1, 1.5, 2]);
});
