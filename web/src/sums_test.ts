import assert from "node:assert/strict";
import {test} from "node:test";
import golden from "../../tests/golden/sum_rules.json";
import {evaluate, partsOver, pickParts} from "./sums";
import type {Histogram, SumRule} from "./data";

interface Case {
  name: string;
  rule: SumRule;
  parts: Record<string, number|number[]>;
  value: number|null;
}

for (const {name, rule, parts, value} of golden as unknown as Case[]) {
  test(`rules give what the analysis gives: ${name}`, () => {
    const lists =
      Object.entries(parts).map(([key, numbers]) => [key, ([] as number[]).concat(numbers)]);
    assert.equal(evaluate(rule, {of: Object.fromEntries(lists)}), value);
  });
}

test("only bins that count are summed, or all when none does; single numbers stay", () => {
  const parts = {counts: [0, 1, 1], of: {ns: [900, 20, 3], size: [8]}};
  const over = (first: number, last: number) => partsOver(parts, [0, 1, 3], {first, last}).of;
  assert.deepEqual(over(0, 3), {ns: [20, 3], size: [8]});
  assert.deepEqual(over(0, 0), {ns: [900], size: [8]});
});

const kLatency: Histogram = {
  starts: [10, 11, 20, 21],
  first: [2, 0],
  counts: [[3], [1, 0]]
};

test("percentiles are of the histogram of the bins that are selected", () => {
  const rule: SumRule = {kind: "percentile", of: "latency", percent: 50};
  const over = (bins: number[]) =>
    evaluate(rule, pickParts({of: {}, histograms: {latency: kLatency}}, bins));
  assert.equal(over([0]), 20);
  assert.equal(over([1]), 10);
  assert.equal(over([0, 1]), 20);
  assert.equal(over([]), null);
  assert.equal(evaluate(rule, {of: {}}), null);
});

test("percentiles from buckets are within a sixteenth of the exact ones", () => {
  const values: number[] = [];
  for (let i = 0; i < 5000; ++i) values.push(Math.floor(3000 * 1.0012 ** i));  // 3 µs to 1.2 s
  const starts: number[] = [];
  for (let exponent = 7; exponent < 27; ++exponent)
    for (let m = 16; m < 32; ++m) starts.push(m * 2 ** exponent);
  const counts =
    starts.slice(1).map((end, i) => values.filter((ns) => ns >= starts[i] && ns < end).length);
  const histograms = {latency: {starts, first: [0], counts: [counts]}};
  for (const percent of [5, 50, 95]) {
    const found =
      evaluate({kind: "percentile", of: "latency", percent}, pickParts({of: {}, histograms}, [0]));
    const exact = values[Math.round((percent / 100) * (values.length - 1))];
    assert.ok(Math.abs((found ?? 0) / exact - 1) < 1 / 16, `${percent}: ${found} for ${exact}`);
  }
});
