import assert from "node:assert/strict";
import {test} from "node:test";
import type {Metric} from "./data";
import {shownMetrics} from "./metrics";

const kMetrics: Metric[] = [
  {
    key: "busy",
    name: "Busy",
    type: "real",
    unit: "%",
    value: "31.0 %",
    help: "busy / time",
    sum: {kind: "ratio", of: "busy_ns", per: "time_ns", factor: 100}
  },
  {
    key: "depth",
    name: "Depth",
    type: "real",
    value: "2.10",
    help: "mean; at most {most}",
    help_of_steps: "mean, about; at most {most}",
    sum: {kind: "ratio", of: "depth_ns", per: "time_ns"}
  },
  {key: "most", name: "", value: "9", sum: {kind: "most", of: "most"}},
];

test("of the whole run metrics are as the analysis has them", () => {
  assert.deepEqual(shownMetrics(kMetrics, null), [
    {label: "Busy", value: "31.0 %", formula: "busy / time"},
    {label: "Depth", value: "2.10", formula: "mean; at most 9"},
  ]);
});

test("of selected steps they are made again", () => {
  const of = {busy_ns: [500, 600], time_ns: [1000, 3000], depth_ns: [4000, 6000], most: [5, 7]};
  assert.deepEqual(shownMetrics(kMetrics, {of}), [
    {label: "Busy", value: "27.5 %", formula: "busy / time"},
    {label: "Depth", value: "2.50", formula: "mean, about; at most 7"},
  ]);
  assert.equal(shownMetrics(kMetrics, {of: {...of, time_ns: [0]}})[0].value, "–");
});
