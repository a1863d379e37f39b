import assert from "node:assert/strict";
import {test} from "node:test";
import {PageSearch} from "./page_search";
import type {RunAnswer} from "./protocol";
import {TextAt} from "./protocol";

const kNames = ["idle: operators", "idle: waiting"];

function rowOf(events: [start: number, end: number, ref: number, name: number][]) {
  return {
    start: Float64Array.from(events, ([start]) => start),
    end: Float64Array.from(events, ([, end]) => end),
    ref: Uint32Array.from(events, ([, , ref]) => ref),
    name: Uint32Array.from(events, ([, , , name]) => name),
    open: new Set<number>(),
  };
}

// Two gaps: one of two causes, of which the row below tells, and one of a single cause.
const run = {
  tracks: [{id: 0, kind: "idle"}],
  tables: [
    {key: "gpu_idle", title: "Idle gap", first_ref: 0, rows: 2},
    {key: "gpu_idle_causes", title: "Cause", first_ref: 10, rows: 2},
  ],
} as unknown as RunAnswer;
const search = new PageSearch(run, {
  rows: new Map([
    ["0:0", rowOf([[0, 100, 0, 0], [200, 230, 1, 0]])],
    ["0:1", rowOf([[0, 60, 10, 0], [60, 100, 11, 1]])],
  ]),
  counters: new Map(),
},
  (id) => kNames[id] ?? "");

test("idle time counts once, as its causes", () => {
  const {matches, events, total} = search.find({text: "idle"});
  assert.deepEqual(matches.map((one) => [one.text, one.table, one.count, one.total, one.longest]),
    [[kNames[0], "gpu_idle_causes", 2, 90, 60], [kNames[1], "gpu_idle_causes", 1, 40, 40]]);
  assert.deepEqual([events, total], [3, 130]);
});

test("a gap is counted among gaps, a cause among causes", () => {
  const gap = search.byRef(0)!;
  assert.deepEqual(search.sameName(gap),
    {count: 2, total: 130, lengths: 130, longest: 100, longest_ref: 0, rank: 1});
  const cause = search.byRef(10)!;
  assert.deepEqual(search.sameName(cause),
    {count: 2, total: 90, lengths: 90, longest: 60, longest_ref: 10, rank: 1});
});

test("what an idle gap is called means the gap", () => {
  assert.equal(search.longest({text: kNames[0], called: 1, nth: 0}).event?.ref, 0);
  assert.equal(search.longest({text: kNames[1], called: 1, nth: 0}).event?.ref, 11);
});

test("the longest gaps are gaps", () => {
  const refs = [0, 1, 2].map((nth) => search.longest({kind: "gap", nth}).event?.ref);
  assert.deepEqual(refs, [0, 1, undefined]);
  const causes =
    [0, 1].map((nth) => search.longest({name: 0, table: "gpu_idle_causes", nth}).event?.ref);
  assert.deepEqual(causes, [10, 1]);
});

test("a call within another of its name counts once", () => {
  const calls = {
    tracks: [{id: 0, kind: "thread"}],
    tables: [{key: "operator_calls", title: "Operator call", first_ref: 0, rows: 9}],
  } as unknown as RunAnswer;
  const rows = new Map([
    ["0:2", rowOf([[20, 80, 2, 0], [205, 220, 6, 0]])],
    ["0:0", rowOf([[0, 100, 0, 0], [200, 230, 3, 1]])],
    ["0:1", rowOf([[10, 90, 1, 1], [204, 225, 5, 0]])],
  ]);
  const found = new PageSearch(calls, {rows, counters: new Map()}, (id) => ["linear", "other"][id]);
  const [linear] = found.find({text: "linear"}).matches;
  assert.deepEqual([linear.count, linear.total], [4, 121]);
  const {count, total, lengths} = found.sameName(found.byRef(2)!)!;
  assert.deepEqual([count, total, lengths], [4, 121, 196]);
});

test("the longest of a part begins there", () => {
  const {ref, from, to} = search.longest({kind: "gap", nth: 0}).event!;
  assert.equal(search.longest({kind: "gap", nth: 0, from, to}).event?.ref, ref);
  assert.equal(search.longest({kind: "gap", nth: 0, from: from + 1, to}).event, null);
});

test("the longest gap is of the steps that count; a longer one elsewhere is named", () => {
  const gaps = {
    groups: [{id: 0, parent: -1}, {id: 1, parent: 0}],
    tracks: [{id: 0, kind: "idle", group: 1}],
    tables: [{key: "gpu_idle", title: "Idle gap", first_ref: 0, rows: 9}],
    steps: [{
      group: 0,
      first_ref: 20,
      number: [0, 1, 2],
      from: [0, 100, 200],
      to: [100, 200, 300],
      steady: [0, 2]
    }],
  } as unknown as RunAnswer;
  const kinds = rowOf([[0, 100, 20, 2], [100, 200, 21, 3], [200, 300, 22, 2]]);
  const longest = (events: [start: number, end: number, ref: number, name: number][]) =>
    new PageSearch(gaps,
      {rows: new Map([["0:0", rowOf(events)], ["1:0", kinds]]), counters: new Map()},
      (id) => ["idle", "", "steady", "warm-up"][id])
      .longest({kind: "gap", within: "steps", nth: 0});
  const found = longest([[10, 50, 0, 0], [110, 170, 1, 0], [220, 240, 2, 0], [310, 400, 3, 0]]);
  assert.deepEqual([found.event?.ref, found.count, found.steps], [0, 2, 2]);
  assert.deepEqual(found.outside?.map(({event, where}) => [event.ref, where]),
    [[1, "in step 1 (warm-up)"], [3, "after the last step"]]);
  assert.deepEqual(longest([[10, 50, 0, 0], [110, 120, 1, 0]]).outside, []);
});

test("what is called so comes first", () => {
  const names = ["forward of head", "head", "Tail", "tails"];
  const tables = [
    {key: "operator_calls", title: "", first_ref: 0, rows: 4},
    {key: "module_calls", title: "", first_ref: 10, rows: 1},
  ];
  const calls =
    rowOf([[0, 50, 0, 0], [60, 70, 10, 1], [80, 120, 1, 1], [130, 140, 2, 2], [150, 190, 3, 3]]);
  const search = new PageSearch({tracks: [{id: 0, kind: "thread"}], tables} as unknown as RunAnswer,
    {rows: new Map([["0:0", calls]]), counters: new Map()}, (id) => names[id] ?? "");
  const longest = (text: string, table?: string): number|undefined =>
    search.longest({text, called: 1, table, nth: 0}).event?.from;
  assert.deepEqual(
    [
      longest("head"), longest("head", "module_calls"), longest("hea"), longest("tail"),
      longest("tail", "operator_calls"), longest("tail", "module_calls")
    ],
    [80, 60, 80, 130, 130, undefined]);
  assert.deepEqual(search.find({text: "head"}).matches.map(({text, total}) => [text, total]),
    [["head", 40], ["head", 10], ["forward of head", 50]]);
  assert.deepEqual(search.times([1, 99]), {times: [[80, 120], null]});
});

test("what is called just so comes first, then what begins with the text", () => {
  const texts = ["iadd", "add_", "Add"];
  const one = new PageSearch({tracks: [], tables: []} as unknown as RunAnswer, {
    rows: new Map([["0:0", rowOf([[0, 90, 0, 0], [100, 150, 1, 1], [200, 201, 2, 2]])]]),
    counters: new Map(),
  },
    (id) => texts[id] ?? "");
  assert.deepEqual(one.find({text: "add"}).matches.map(({text}) => text), ["Add", "add_", "iadd"]);
  const next = [TextAt.whole, TextAt.begin, TextAt.within].map(
    (place) => one.next({text: "add", text_at: place, at: -1, direction: 1}).event?.ref);
  assert.deepEqual(next, [2, 1, 0]);
  assert.equal(one.longest({text: "ad", called: 1, nth: 0}).event?.ref, 1);
});
