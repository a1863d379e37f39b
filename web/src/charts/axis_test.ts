import assert from "node:assert/strict";
import {test} from "node:test";
import {axisFromZero, integerTicks, niceStep, logAxis} from "./axis";

test("steps are 1, 2 or 5 times a power of ten", () => {
  assert.equal(niceStep(40, 5), 10);
  assert.equal(niceStep(41, 5), 10);
  assert.equal(niceStep(0.7, 5), 0.2);
});

test("an axis has round labels in its unit and reaches the largest value", () => {
  const axis = axisFromZero("ns", 33e6, 5);
  assert.equal(axis.scale.unit, "ms");
  assert.deepEqual(
    axis.ticks.map((tick) => tick.label),
    ["0", "10", "20", "30", "40"],
  );
  assert.equal(axis.max, 40e6);
});

test("an axis of nothing is still an axis", () => {
  const axis = axisFromZero("ns", 0, 5);
  assert.ok(axis.max > 0);
  assert.ok(axis.ticks.length >= 2);
});

test("ticks of steps are whole numbers within the range", () => {
  assert.deepEqual(integerTicks(0, 3, 8), [0, 1, 2, 3]);
  assert.deepEqual(integerTicks(95, 312, 5), [100, 150, 200, 250, 300]);
  assert.deepEqual(integerTicks(7, 7, 5), [7]);
});

test("a logarithmic axis has the finest round ticks that fit", () => {
  const wide = logAxis(0.02, 800, 8);
  assert.deepEqual(wide.ticks.map(({label}) => label), ["0.1", "1", "10", "100", "1,000"]);
  assert.ok(wide.share(0.02) > 0 && wide.share(800) < 1);
  assert.ok(Math.abs(wide.share(wide.min)) < 1e-9 && Math.abs(wide.share(wide.max) - 1) < 1e-9);
  assert.deepEqual(logAxis(30, 60, 8).ticks.map(({label}) => label), ["20", "50"]);
  assert.deepEqual(logAxis(1e-6, 1e-4, 3).ticks.map(({label}) => label), ["10⁻⁶", "10⁻⁵", "10⁻⁴"]);
  assert.deepEqual(logAxis(2, 500, 9).ticks.map(({label}) => label),
    ["2", "5", "10", "20", "50", "100", "200", "500"]);
  assert.deepEqual(
    logAxis(0.05, 1, 9).ticks.map(({label}) => label), ["0.05", "0.1", "0.2", "0.5", "1"]);
  const one = logAxis(7, 7, 8);
  assert.ok(one.min < 7 && one.max > 7);
});
