import assert from "node:assert/strict";
import {test} from "node:test";
import type {EventAnswer} from "../data/protocol";
import {didRows} from "./sampled_rows";

test("what a thread did adds up to the call", () => {
  const did = {ran: 4e6, ready: 0, gil: 0, waited: 1e6, knows_ready: true};
  const rows = (to: number): [string, string][] => didRows({did, from: 0, to} as EventAnswer);
  assert.deepEqual(rows(5e6 + 999), [["ran", "4.00 ms"], ["slept or waited", "1.00 ms"]]);
  assert.deepEqual(
    rows(10e6), [["ran", "4.00 ms"], ["slept or waited", "1.00 ms"], ["nobody looked", "5.00 ms"]]);
  assert.deepEqual(didRows({did: null, from: 0, to: 9} as unknown as EventAnswer), []);
});
