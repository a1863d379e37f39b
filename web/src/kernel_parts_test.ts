import assert from "node:assert/strict";
import {test} from "node:test";
import type {Column, PageData, TableData} from "./data";
import {kernelEntries, linesOf, measuredValue, reasonsOf, textOf} from "./kernel_parts";

const strings = ["gemm", "copy", "aten::mm", "a.cu:5", "x = y;", ""];

function tableFrom(
  key: string, cells: Record<string, (number | null)[]>, texts: string[]): TableData {
  const columns = Object.keys(cells).map(
    (name): Column => ({key: name, name, type: texts.includes(name) ? "text" : "real"}));
  return {key, title: key, csv: "", total_rows: 0, columns, cells: Object.values(cells)};
}

function pageOf(...tables: TableData[]): PageData {
  return {tables, strings, labels: {}} as unknown as PageData;
}

const limits = tableFrom("kernel_limits", {
  kernel: [0, 0],
  operator: [2, null],
  share: [60, 40],
  dram: [81, null],
  measured_kernel: [1, 2],
},
  ["kernel", "operator"]);
// Of the second kernel alone.
const roofline = tableFrom("kernel_roofline", {tflops: [12], measured_kernel: [2]}, []);
const stalls = tableFrom("stalls", {
  kernel: [1, 0],
  share: [70, 30],
  not_issued: [9, 9],
  selected: [10, 20],
  barrier: [0, 50],
  wait: [90, 30],
  other: [0, null],
  advice: [5, 5],
},
  ["kernel", "advice"]);
const lines = tableFrom("hot_lines",
  {place: [3, 3], source: [4, 5], instruction: [5, 5], kernel: [0, 1], kernel_share: [90, 8]},
  ["place", "source", "instruction", "kernel"]);

test("measured kernels come first, then those that were sampled alone", () => {
  const entries = kernelEntries(pageOf(limits, stalls));
  assert.deepEqual(entries.map(({kernel, share}) => [kernel, share]), [[0, 60], [0, 40], [1, 70]]);
  assert.deepEqual(
    entries.map(({measured, sampled}) => [measured, sampled]), [[1, 1], [2, 1], [null, 0]]);
  assert.deepEqual(kernelEntries(pageOf()), []);
});

test("what was not read is not there", () => {
  const page = pageOf(limits);
  const [first, second] = kernelEntries(page);
  assert.equal(measuredValue(page, first, "kernel_limits", "dram")?.value, 81);
  assert.equal(measuredValue(page, second, "kernel_limits", "dram"), undefined);
  assert.equal(measuredValue(page, first, "kernel_memory", "l2_hit"), undefined);
  assert.equal(textOf(page, measuredValue(page, first, "kernel_limits", "operator")), "aten::mm");
  assert.deepEqual(reasonsOf(page, first), []);
  assert.equal(linesOf(page, first), null);
});

test("a kernel is found by its number, not by its row", () => {
  const page = pageOf(limits, roofline);
  const [first, second] = kernelEntries(page);
  assert.equal(measuredValue(page, second, "kernel_roofline", "tflops")?.value, 12);
  assert.equal(measuredValue(page, first, "kernel_roofline", "tflops"), undefined);
});

test("reasons are those between the first and the last of their columns, greatest first", () => {
  const page = pageOf(limits, stalls);
  const reasons = reasonsOf(page, kernelEntries(page)[0]);
  assert.deepEqual(reasons.map(({column, value}) => [column.key, value]),
    [["barrier", 50], ["wait", 30], ["selected", 20]]);
});

test("lines are the kernel's own, without columns that say nothing", () => {
  const page = pageOf(limits, stalls, lines);
  const [gemm, , copy] = kernelEntries(page);
  assert.deepEqual(
    linesOf(page, gemm)?.columns.map(({key}) => key), ["place", "source", "kernel_share"]);
  assert.deepEqual(linesOf(page, gemm)?.cells, [[3], [4], [90]]);
  assert.deepEqual(linesOf(page, copy)?.columns.map(({key}) => key), ["place", "kernel_share"]);
});
