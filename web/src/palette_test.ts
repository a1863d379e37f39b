import assert from "node:assert/strict";
import {test} from "node:test";
import {seriesNumbers} from "./palette";

test("a known phase has the same colour in every report", () => {
  const [forward] = seriesNumbers(["forward"]);
  assert.equal(seriesNumbers(["data_loading", "forward", "other"])[1], forward);
});

test("unknown phases get colours that nobody uses", () => {
  const numbers = seriesNumbers(["user_range", "forward", "user_range", "checkpoint"]);
  assert.equal(new Set(numbers).size, 4);
});
