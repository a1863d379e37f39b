import assert from "node:assert/strict";
import {test} from "node:test";
import type {RangeTable} from "../data/protocol";
import {askedSteps, askedTime, csvOf, joined, ofOneStep, partOf, tableOf, textOf} from "./range_data";

const table: RangeTable = {
  key: "kernels",
  title: "Kernels",
  columns: [{key: "name", name: "Kernel", type: "text"}, {key: "time", name: "Time", unit: "ns"}],
  rows: [["gemm<1, \"x\">", 2_000_000], ["copy", null]],
};

test("a table is turned column-wise with texts by number", () => {
  const {table: data, strings} = tableOf(table);
  assert.deepEqual(data.cells, [[0, 1], [2_000_000, null]]);
  assert.deepEqual(strings, ["gemm<1, \"x\">", "copy"]);
});

test("CSV has bare numbers and quotes what needs it", () => {
  assert.equal(csvOf(table), "Kernel,Time (ns)\n\"gemm<1, \"\"x\"\">\",2000000\ncopy,\n");
});

test("CSV has the headings and decimals of the command line's", () => {
  const columns: RangeTable["columns"] = [
    {key: "bytes", name: "Bytes", unit: "bytes"},
    {key: "share", name: "Share", type: "real", unit: "%"},
    {key: "rate", name: "GB/s", type: "real"},
    {key: "each", name: "Each", type: "real", unit: "ns"},
    {key: "exact", name: "Exact", type: "real", decimals: 4},
  ];
  const rows = [[32768, 0.0018508361407180522, 12.7, 5.27, 0.5]];
  assert.equal(csvOf({key: "x", title: "X", columns, rows}),
    "Bytes (B),Share (%),GB/s,Each (ns),Exact\n32768,0.00,12.70,5.3,0.5000\n");
});

test("text is aligned and in one unit", () => {
  assert.equal(
    textOf(table), "Kernel        Time (ms)\ngemm<1, \"x\">     2.0000\ncopy                  –\n");
});

test("two runs stand side by side with their difference", () => {
  const other = {...table, rows: [["copy", 5], ["new", 7]]};
  const {columns, rows} = joined(table, other);
  assert.deepEqual(columns.map(({key}) => key), ["name", "time_a", "time_b", "time_change"]);
  assert.deepEqual(
    columns.map(({largest}) => largest), [undefined, 2_000_000, 2_000_000, 2_000_000]);
  assert.deepEqual(rows,
    [["gemm<1, \"x\">", 2_000_000, null, -2_000_000], ["copy", null, 5, 5], ["new", null, 7, 7]]);
});

test("rows of two runs are matched by rank, and numbers of one run alone are left out", () => {
  const columns: RangeTable["columns"] = [
    {key: "rank", name: "Rank"},
    {key: "pid", name: "PID"},
    {key: "phase", name: "Phase", type: "text"},
    {key: "mean", name: "Mean", unit: "ns"},
    {key: "p95", name: "p95", unit: "ns"},
  ];
  const of = (rows: RangeTable["rows"]): RangeTable => ({key: "phases", title: "", columns, rows});
  const {columns: shown, rows} =
    joined(of([[0, 7, "forward", 10, null], [1, 8, "forward", 20, null]]),
      of([[1, 9, "forward", 25, null], [0, 6, "forward", 11, null]]));
  assert.deepEqual(shown.map(({key}) => key), ["rank", "phase", "mean_a", "mean_b", "mean_change"]);
  assert.deepEqual(rows, [[0, "forward", 10, 11, 1], [1, "forward", 20, 25, 5]]);
  const alone = joined(of([[null, 7, "forward", 10, null]]), of([[null, 9, "forward", 11, null]]));
  assert.deepEqual(alone.rows, [["forward", 10, 11, 1]]);
});

test(
  "a row is the same thing in both runs by its name or step, whatever else is told of it", () => {
    const kernels = (rows: RangeTable["rows"]): RangeTable => ({
      key: "kernels",
      title: "",
      columns: [
        {key: "name", name: "Kernel", type: "text"}, {key: "grid", name: "Grid", type: "text"},
        {key: "time", name: "Time", unit: "ns"}
      ],
      rows
    });
    assert.deepEqual(joined(kernels([["gemm", "4 x 1", 10], ["add", "1", 1]]), kernels([
      ["add", "1", 2], ["gemm", "8 x 1", 7]
    ])).rows,
      [["gemm", "4 x 1 / 8 x 1", 10, 7, -3], ["add", "1", 1, 2, 1]]);
    // Of two with one name the one that is the same in all stands beside its own.
    assert.deepEqual(joined(kernels([["copy", "pinned", 3], ["copy", "pageable", 4]]), kernels([
      ["copy", "pageable", 5]
    ])).rows,
      [["copy", "pinned", 3, null, -3], ["copy", "pageable", 4, 5, 1]]);
    const steps = (rows: RangeTable["rows"]): RangeTable => ({
      key: "steps",
      title: "",
      columns: [
        {key: "step", name: "Step"}, {key: "outlier", name: "Outlier", type: "text"},
        {key: "duration", name: "Duration", unit: "ns"}
      ],
      rows
    });
    assert.deepEqual(
      joined(steps([[5, "", 1], [6, "yes", 9]]), steps([[5, "", 1], [6, "", 2]])).rows,
      [[5, "", 1, 1, 0], [6, "yes / –", 9, 2, -7]]);
  });

test(
  "of one step what it is made of has one time, and of two runs both and their difference", () => {
    const columns: RangeTable["columns"] = [
      {key: "phase", name: "Phase", type: "text"}, {key: "depth", name: "Depth"},
      ...["share", "mean", "median", "p5", "p95", "total"].map((key) => ({key, name: key}))
    ];
    const of = (time: number): RangeTable => ofOneStep(
      {key: "phases", title: "", columns, rows: [["forward", 1, 9, time, time, time, time, time]]});
    assert.deepEqual(of(5).columns.map(({key}) => key), ["phase", "depth", "share", "mean"]);
    assert.deepEqual(of(5).rows, [["forward", 1, 9, 5]]);
    assert.deepEqual(joined(of(5), of(7)).columns.map(({key}) => key),
      ["phase", "depth", "share_a", "share_b", "share_change", "mean_a", "mean_b", "mean_change"]);
    assert.equal(ofOneStep({key: "kernels", title: "", columns, rows: []}).columns, columns);
  });

test("steps are asked for by their number and process", () => {
  const span = {from: 1000, to: 2000};
  assert.deepEqual(
    partOf({...span, steps: {first: 4, last: 5}}, 100), {first_step: 4, last_step: 5});
  assert.deepEqual(partOf({...span, steps: {first: 4, last: 4, of: "rank 1", process: 1}}, 100),
    {first_step: 4, last_step: 4, process: 1});
  assert.deepEqual(partOf(span, 100), {from: "900", to: "1900"});
});

test("what is typed as steps is whole numbers, else it is said what is wrong", () => {
  assert.deepEqual(askedSteps("100", "101"), {first: 100, last: 101});
  assert.deepEqual(askedSteps(" 7 ", ""), {first: 7, last: 7});
  assert.deepEqual(askedSteps("180 - 500", ""), {first: 180, last: 500});
  assert.equal(askedSteps("", ""), "Type the number of a step, or of the first and the last.");
  assert.equal(
    askedSteps("abc", "1.5"), "\u201cabc\u201d is no step: type a whole number, such as 28.");
  assert.equal(
    askedSteps("1", "1.5"), "\u201c1.5\u201d is no step: type a whole number, such as 28.");
  assert.equal(askedSteps("5", "3"), "The last step is before the first.");
});

const kRun = {
  from: 0,
  to: 18e6
};

test("what is typed as times is milliseconds, else it is said what is wrong", () => {
  assert.deepEqual(askedTime("1.5", "2", kRun), {from: 1.5e6, to: 2e6});
  assert.equal(askedTime("", "2", kRun), "Type both times, in milliseconds.");
  for (const text of ["16600 ms", "16,500.5"])
    assert.equal(askedTime("1", text, kRun),
      `\u201c${text}\u201d is no time: type milliseconds as a number, such as 16600.5.`);
  assert.equal(askedTime("2", "2", kRun), "The second time is not after the first.");
});

test("a range ends where the run does", () => {
  assert.deepEqual(askedTime("1.5", "99", kRun), {from: 1.5e6, to: kRun.to});
  assert.equal(askedTime("99", "100", kRun),
    "Nothing was recorded then: the run goes from 0.000 to 18.000 ms.");
});
