import assert from "node:assert/strict";
import {test} from "node:test";
import {parseUrl} from "./timeline/state/url_state";
import type {PageData, TableData} from "./data";
import {rowLink, timelineFragment} from "./timeline_link";

test("the timeline understands what the report writes", () => {
  assert.equal(parseUrl(timelineFragment({step: 13})).step, 13);
  const name = "void gemm<a & b, 50%>(c=#d)";
  assert.equal(parseUrl(timelineFragment({find: name})).find, name);
  assert.equal(parseUrl(timelineFragment({find: "x".repeat(900)})).find?.length, 200);
  const {from, to, range} = parseUrl(timelineFragment({from: 1000, to: 101_000}));
  assert.deepEqual(range, [1000, 101_000]);
  assert.deepEqual([from, to], [0, 151_000]);
});

test("a row that stands for several leads nowhere", () => {
  const names = ["(smaller ones)", "(others)", "(no recorded event)"];
  const page = {timeline: true, strings: names} as unknown as PageData;
  const table = {key: "operators", columns: [{key: "name", type: "text"}], cells: [[0, 1, 2]]} as
    unknown as TableData;
  names.forEach((_, row) => assert.equal(rowLink(page)(table, row), null));
});
