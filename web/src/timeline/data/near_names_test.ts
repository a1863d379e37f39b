import assert from "node:assert/strict";
import {test} from "node:test";
import {nearNamesText} from "./near_names";

// As src/timeline/answers/near_names_test.cpp has it.
const names = ["optimizer step", "aten::linear", "aten::gelu"];

test("a name that is not there is told with those that look like it", () => {
  assert.equal(nearNamesText(names, "linaer"), "; did you mean linear?");
  assert.equal(nearNamesText(names, "aten::linera"), "; did you mean aten::linear or aten::gelu?");
  assert.equal(
    nearNamesText(["train.py:7(update_stats)"], "updat_stats"), "; did you mean update_stats?");
});

test("where none looks like it, those with most time are told", () => {
  assert.equal(nearNamesText(names, "zzzzzzz"),
    "; the names with most time are \"optimizer step\", \"aten::linear\" and \"aten::gelu\"");
  assert.equal(nearNamesText([], "x"), "");
});
