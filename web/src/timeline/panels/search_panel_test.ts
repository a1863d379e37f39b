import assert from "node:assert/strict";
import {test} from "node:test";
import type {FindAnswer, Match} from "../data/protocol";
import type {RunView} from "../state/model";
import {rowsOf} from "./search_panel";

function found(index: number, ...totals: [string, number][]) {
  const matches = totals.map(
    ([text, total]): Match =>
      ({name: 1, text, count: 1, total, longest: total, longest_ref: 0, table: "operator_calls"}));
  return {
    run: {index} as RunView,
    answer: {matches, more: false, events: totals.length, total: 1} as FindAnswer
  };
}

test("what both runs have stands together, by the larger time", () => {
  const rows =
    rowsOf([found(0, ["mm", 9], ["add", 2]), found(1, ["add", 30], ["mm", 1], ["cat", 5])], "");
  assert.deepEqual(rows.map(({found: {run}, match}) => "AB"[run.index] + match.text),
    ["Aadd", "Badd", "Amm", "Bmm", "Bcat"]);
});

test("of both runs what is called just so comes first, then what begins with it", () => {
  const a = found(0, ["add", 2], ["add_", 7], ["iadd", 9]);
  const rows = rowsOf([a, found(1, ["Add", 1], ["iadd", 9])], "add");
  assert.deepEqual(rows.map(({found: {run}, match}) => "AB"[run.index] + match.text),
    ["Aadd", "BAdd", "Aadd_", "Aiadd", "Biadd"]);
});
