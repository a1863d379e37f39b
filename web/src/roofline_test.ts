import assert from "node:assert/strict";
import {test} from "node:test";
import type {Column, PageData, TableData} from "./data";
import {kernelName, rooflines} from "./roofline";

const strings =
  ["gemm", "gelu", "copy", "lookup", "other", "", "Tensor bf16", "fp32", "DRAM", "at most"];
const kTexts = ["kernel", "type", "roof", "counted"];
type Cells = Record<string, (number|null)[]>;

function tableFrom(key: string, cells: Cells): TableData {
  const columns = Object.keys(cells).map(
    (name): Column => ({key: name, name, type: kTexts.includes(name) ? "text" : "real"}));
  return {key, title: key, csv: "", total_rows: 0, columns, cells: Object.values(cells)};
}

function pageOf(...tables: TableData[]): PageData {
  return {tables, strings, labels: {1: "Gelu"}} as unknown as PageData;
}

// A product, a function of each element, a copy, one without bytes of DRAM; a fifth is not there.
const kernels = tableFrom("kernel_roofline", {
  kernel: [0, 1, 2, 3],
  share: [50, 20, 10, 5],
  type: [6, 7, 5, 7],
  tflops: [800, 2, null, 1],
  attainable_tflops: [900, 2.5, null, 60],
  attained: [88.9, 80, 71, 1.7],
  roof: [6, 8, 8, 7],
  counted: [5, 9, 5, 9],
  dram_intensity: [1000, 0.5, null, null],
  l2_intensity: [null, null, null, 4],
  peak_tflops: [900, 58, null, 60],
  dram_peak_gbps: [4700, 4800, 4800, 4800],
  l2_peak_gbps: [8000, 8000, 8000, 8000],
  clock_ghz: [1.6, 1.7, 1.7, 1.75],
  measured_kernel: [1, 2, 4, 5],
});
const limits = tableFrom("kernel_limits", {
  kernel: [0, 1, 4, 2, 3],
  share: [50, 20, 15, 10, 5],
  measured_kernel: [1, 2, 3, 4, 5],
});
const step = tableFrom("step_roofline", {
  rank: [0],
  device: [1],
  type: [6],
  tflops: [300],
  roof: [6],
  dram_intensity: [200],
  peak_tflops: [880],
  clock_ghz: [1.65],
});

test("kernels with operations and bytes are dots, the others are told", () => {
  const [dram, l2] = rooflines(pageOf(kernels, limits));
  assert.deepEqual(
    dram.dots.map(({number, tflops, intensity, atMost}) => [number, tflops, intensity, atMost]),
    [[1, 800, 1000, false], [2, 2, 0.5, true]]);
  assert.deepEqual(dram.idle.map(({number, attained}) => [number, attained]), [[4, 71]]);
  assert.deepEqual(dram.local.map(({number}) => number), [5]);
  assert.deepEqual(dram.uncounted, {kernels: 1, share: 15});
  assert.deepEqual(l2.dots.map(({number}) => number), [5]);
  assert.deepEqual(l2.local.map(({number}) => number), [1, 2]);
});

test("roofs are those of the types that occur, at the highest clock", () => {
  const [dram, l2] = rooflines(pageOf(kernels, limits));
  assert.deepEqual(dram.bandwidth, {name: "DRAM", peak: 4.8});
  assert.deepEqual(dram.peaks, [{name: "Tensor bf16", peak: 900}, {name: "fp32", peak: 60}]);
  assert.deepEqual(l2.peaks, [{name: "fp32", peak: 60}]);
  assert.deepEqual(dram.clocks, [1.6, 1.75]);
});

test("a measured step is a dot of its own, with kernels or without", () => {
  const page = pageOf(kernels, limits, step);
  const [{dots}] = rooflines(page);
  assert.deepEqual(dots.map(({number}) => number), [1, 2, null]);
  assert.deepEqual(
    dots.map((dot) => kernelName(page, dot)), ["gemm", "Gelu", "Measured step, rank 0, GPU 1"]);
  const [alone, ...others] = rooflines(pageOf(step));
  assert.equal(others.length, 0);
  assert.deepEqual(alone.dots.map(({tflops}) => tflops), [300]);
  assert.equal(alone.bandwidth, null);
  assert.deepEqual(alone.peaks, [{name: "Tensor bf16", peak: 880}]);
  assert.deepEqual(alone.uncounted, {kernels: 0, share: 0});
});

test("nothing was counted", () => {
  assert.deepEqual(rooflines(pageOf()), []);
  assert.deepEqual(rooflines(pageOf(limits)), []);
});
