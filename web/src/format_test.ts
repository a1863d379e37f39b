import assert from "node:assert/strict";
import {test} from "node:test";
import type {Column} from "./data";
import {bytes, codePieces, columnFormat, decimalsFor, numberText, percent, scaleFor, significant, time, timeRange} from "./format";

const column = (unit: Column["unit"], type?: Column["type"]): Column => ({
  key: "time",
  name: "Time",
  type,
  unit,
  decimals: 1,
  help: "",
});

test("times have three significant digits and the unit that fits", () => {
  assert.equal(time(0), "0 ns");
  assert.equal(time(7), "7.00 ns");
  assert.equal(time(1234), "1.23 µs");
  assert.equal(time(24_312_000), "24.3 ms");
  assert.equal(time(999_970_000), "1.00 s");
  assert.equal(time(3_600e9), "3,600 s");
});

test("a range has one unit", () => {
  assert.equal(timeRange(95_900_000, 216_000_000), "95.9 – 216 ms");
  assert.equal(timeRange(950, 1_200), "0.950 – 1.20 µs");
});

test("bytes count in powers of two", () => {
  assert.equal(bytes(512), "512 B");
  assert.equal(bytes(64 * 2 ** 20), "64.0 MiB");
  assert.equal(numberText({key: "", name: "", unit: "bytes"}, 64 * 2 ** 20), "64.0 MiB");
});

test("significant digits keep small numbers", () => {
  assert.equal(significant(0.0412), "0.0412");
  assert.equal(significant(1284), "1,284");
  assert.equal(decimalsFor(6.2, 4), 3);
  assert.equal(decimalsFor(620, 4), 1);
  assert.equal(decimalsFor(0, 4), 0);
});

test("a part of nothing is no percentage", () => {
  assert.equal(percent(1, 0), "–");
  assert.equal(percent(1, 3), "33.3 %");
});

test("a column has one unit, chosen by its largest value", () => {
  assert.deepEqual(scaleFor("ns", 5e6), {factor: 1e6, unit: "ms"});
  const format = columnFormat(column("ns"), [6_200_000, 1_000, null, 12]);
  assert.equal(format.unit, "ms");
  assert.equal(format.text(6_200_000), "6.2000");
  assert.equal(format.text(1_000), "0.0010");
  assert.equal(format.text(12), "<0.0001");
  assert.equal(format.text(0), "0.0000");
});

test("counts are whole, percentages keep the column's decimals", () => {
  assert.equal(columnFormat(column(""), [1234567]).text(1234567), "1,234,567");
  assert.equal(columnFormat(column("%", "real"), [12.34]).text(12.34), "12.3");
});

test("numbers that say which thing it is have no separators", () => {
  const pid: Column = {key: "pid", name: "PID", identifier: true};
  assert.equal(columnFormat(pid, [12242]).text(12242), "12242");
  assert.equal(numberText(pid, 12242), "12242");
});

test("what stands between backticks is code", () => {
  assert.deepEqual(codePieces("mostly in `log` (a.py:3)"), [
    {text: "mostly in ", code: false},
    {text: "log", code: true},
    {text: " (a.py:3)", code: false},
  ]);
  assert.deepEqual(codePieces("`a`, `b`").map((piece) => piece.text), ["a", ", ", "b"]);
  assert.deepEqual(codePieces("a ` alone"), [{text: "a ` alone", code: false}]);
});

test("a column of no number has no unit", () => {
  assert.equal(columnFormat(column("ns"), [null, null]).unit, "");
  assert.equal(columnFormat(column("ns"), [null, 5]).unit, "ns");
});
