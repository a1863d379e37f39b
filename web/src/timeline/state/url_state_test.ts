import assert from "node:assert/strict";
import {test} from "node:test";
import {formatUrl, parseUrl} from "./url_state";

test("what is written is read back", () => {
  const state = {
    hash: "9f2c4d0a11223344",
    from: 123,
    to: 4567,
    find: "void f<a & b, c=d>(#1) 100%",
    table: "kernels",
    sel: {table: "kernels", row: 5},
    range: [10, 20] as [number, number],
    mark: [15, 15] as [number, number],
    pin: [3, 7],
    open: [1, -5],
  };
  assert.deepEqual(parseUrl(formatUrl(state)), state);
});

test("what somebody typed wrongly is left out", () => {
  const state = parseUrl("#from=abc&to=5&sel=kernels&range=7&pin=x,1&find=100%&unknown=1");
  assert.deepEqual(JSON.parse(JSON.stringify(state)), {to: 5, find: "100%"});
});

test("the command line's fields", () => {
  const state = parseUrl("#token=ab12&step=13&at=1234000000");
  assert.equal(state.token, "ab12");
  assert.equal(parseUrl("#ticket=cd34&step=13").ticket, "cd34");
  assert.equal(state.step, 13);
  assert.equal(state.at, 1_234_000_000);
});

test("of two runs their alignment and a selection in the second", () => {
  const text = "#hash=9f2c4d0a11223344&hashb=8f2c4d0a11223344&align=40&sel=B:kernels:5";
  const state = {
    hash: "9f2c4d0a11223344",
    hashb: "8f2c4d0a11223344",
    align: 40,
    sel: {table: "kernels", row: 5, run: 1},
  };
  assert.deepEqual(JSON.parse(JSON.stringify(parseUrl(text))), state);
  assert.equal(formatUrl(state), text);
});
