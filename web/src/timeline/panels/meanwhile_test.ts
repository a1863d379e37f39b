import assert from "node:assert/strict";
import {test} from "node:test";
import {trackId} from "../data/track";
import {kNoItems} from "../data/items";
import type {Track} from "../data/track";
import type {Pieces} from "./meanwhile";
import type {EventAnswer, ThreadTimes, TrackInfo} from "../data/protocol";
import {awaitedOf, isWaiting, meanwhileOf, piecesOf, processAround, threadsOf} from "./meanwhile";

test("of two runs a gap stands beside the threads of its own", () => {
  const [process, gpu] = [1000, 1001];
  const track = (run: number, id: number, parent: number, kind: string): Track => ({
    id: trackId(run, id),
    parent,
    run,
    info: null,
    kind,
    name: `${kind} of ${"AB"[run]}`,
    rows: 1,
    open: true,
  });
  const group = (id: number, parent: number): Track =>
    ({...track(0, 0, parent, "process"), id, rows: 0});
  // As two runs are shown: the tracks of B in the groups of A.
  const tracks = [
    group(process, -1),
    group(gpu, process),
    ...[0, 1].map((run) => track(run, 0, process, "thread")),
    ...[0, 1].map((run) => track(run, 1, gpu, "idle")),
  ];
  for (const run of [0, 1])
    assert.deepEqual(
      threadsOf(tracks, run, processAround(tracks, trackId(run, 1), 2)).map(({name}) => name),
      [`thread of ${"AB"[run]}`]);
});

test("of a thread that begins something in the gap it is told how long it was in nothing", () => {
  const gap = {from: 1000, to: 2000};
  const pieces = (...spans: [number, number][]): Pieces|null => piecesOf({
    ...kNoItems,
    count: spans.length,
    start: Uint32Array.from(spans.map(([from]) => from)),
    width: Uint32Array.from(spans.map(([from, to]) => to - from)),
    ref: Uint32Array.from(spans.map((_, i) => i)),
    merged: new Uint32Array(spans.length).fill(1),
    busy: new Uint8Array(spans.length).fill(255),
  },
    gap);
  assert.deepEqual(pieces([900, 1020], [1900, 2100]),
    {events: 2, longest: 1, outside: 880, hole: {from: 1020, to: 1900}}, "between two");
  assert.deepEqual(pieces([500, 600], [1900, 2100]),
    {events: 1, longest: 1, outside: 900, hole: {from: 1000, to: 1900}}, "after none");
  assert.deepEqual(pieces([1100, 1300], [1350, 1700], [1900, 1950]),
    {events: 3, longest: 1, outside: 400, hole: {from: 1700, to: 1900}}, "in pieces");
  assert.deepEqual(pieces([900, 1020], [1030, 1040]),
    {events: 2, longest: 0, outside: 970, hole: {from: 1040, to: 2000}}, "at the end");
  assert.equal(pieces([900, 1020]), null, "it begins nothing");
  assert.equal(pieces([900, 1020], [2000, 2100]), null, "after the gap");
  assert.equal(piecesOf(undefined, gap), null);
});

test("threads that poll or wait for work are not what ran", () => {
  const event = (name: string, table: string, times: Partial<ThreadTimes>|null): EventAnswer => ({
    ref: 0,
    name,
    name_id: 0,
    table,
    track: 0,
    depth: 0,
    from: 0,
    to: 100,
    row: 0,
    title: "",
    open: false,
    fields: [],
    did: times && {ran: 0, ready: 0, gil: 0, waited: 0, knows_ready: true, ...times},
    parents: [],
    links: [],
  });
  const sampled = "python_stretches";
  assert.ok(isWaiting(event("train.py:5(watchdog)", sampled, {ran: 2, waited: 98})));
  assert.ok(!isWaiting(event("train.py:9(busy)", sampled, {ran: 90, waited: 10})));
  assert.ok(!isWaiting(event("train.py:9(busy)", sampled, {ran: 5, gil: 90, waited: 5})),
    "it would run, but for Python's lock");
  assert.ok(!isWaiting(event("train.py:9(busy)", sampled, {ready: 90, waited: 10})),
    "it would run, but for a processor");
  assert.ok(isWaiting(event("pthread_cond_timedwait", "os_calls", null)));
  assert.ok(!isWaiting(event("aten::mm", "operator_calls", null)));
  // In a page of its own events have no looks.
  assert.ok(isWaiting(event("queue.py:154(Queue.get)", sampled, null)));
  assert.ok(isWaiting(event("threading.py:604(Event.wait)", sampled, null)));
  assert.ok(!isWaiting(event("json.py:9(get)", sampled, null)));
});

test("the thread that the GPU waited for is told whatever it did", () => {
  const tracks =
    ["thread", "python", "thread", "python"].map((kind, id) => ({id: id + 10, kind}) as TrackInfo);
  assert.deepEqual([...awaitedOf(tracks, [12, 13])], [12, 13]);
  assert.deepEqual([...awaitedOf(tracks, null)], [10, 11], "the first, where it is not known");
  assert.deepEqual([...awaitedOf(tracks.slice(0, 2), undefined)], [10, 11]);
});

const kMs = 1e6;
const kStalled = {
  tracks:
    [{id: 0, kind: "phases"}, {id: 1, kind: "thread", rows: 2}, {id: 2, kind: "python", rows: 1}],
};
// By track, what each of its rows holds: from, to, ref.
const kStalledRows = new Map([[1, [[0, 1000, 71], [210, 390, 72]]], [2, [[200, 400, 73]]]]);
const kStall = {
  table: "step_phases",
  name_id: 9,
  track: 0,
  from: 200 * kMs,
  to: 400 * kMs,
  step: {number: 3, from: 100 * kMs, to: 900 * kMs},
};

function stalledRun(events: Map<number, object>, within: object|null = null) {
  return {
    index: 0,
    info: kStalled,
    palettes: new Map([["phase", new Map([[9, {key: "other"}]])]]),
    source: {
      call: async (_: string, {ref, from, to}: {ref: number; from?: string; to?: string}) => {
        const asked = Number(from) === kStall.from && Number(to) === kStall.to;
        return {...events.get(ref), line_within: asked ? within : undefined};
      },
      view: async ({from, step}: {from: number; step: number}) => ({
        from,
        step,
        rows: new Map([...kStalledRows].flatMap(([track,
          list]) => list.map(([begin, end, ref], depth): [string, object] => [`${track}:${depth}`, {
          from,
          step,
          count: 1,
          start: [Math.max(0, (begin * kMs - from) / step)],
          width: [(Math.min(end, 400) - Math.max(begin, 200)) * kMs / step],
          ref: [ref],
          merged: [1],
          busy: [255],
        }]))),
      }),
    },
  };
}

test("a phase that no other one explains says what the training thread did", async () => {
  const event = (name: string, table: string, from: number, to: number): object =>
    ({name, table, from: from * kMs, to: to * kMs, did: null});
  const events = new Map([
    [71, event("step 3", "nvtx_ranges", 0, 1000)],
    [72, event("sem_wait", "os_calls", 210, 390)],
    [73, event("run.py:5(run)", "python_stretches", 200, 400)],
  ]);
  const process = {id: 100, kind: "process", parent: -1, run: 0};
  const inProcess = kStalled.tracks.map(
    (info) => ({id: trackId(0, info.id), parent: 100, run: 0, kind: info.kind, name: "", info}));
  const told = async(within: object|null = null): Promise<string[]> => {
    const tracks = [process, ...inProcess];
    const found =
      await meanwhileOf({tracks} as never, stalledRun(events, within) as never, kStall as never);
    return found.map(
      (one) => "event" in one ? `${one.line ? `${one.line}, ` : ""}${one.event.name}` : "");
  };
  assert.deepEqual(await told(), ["sem_wait", "run.py:5(run)"]);
  events.set(72, events.get(71)!);
  assert.deepEqual(await told(), ["run.py:5(run)"], "what holds the step tells nothing");
  events.set(73, event("run.py:1(<module>)", "python_stretches", 0, 1000));
  assert.deepEqual(await told(), []);
  assert.deepEqual(await told({line: 8, line_ns: 150 * kMs}), ["8, run.py:1(<module>)"]);
  assert.deepEqual(await told({line: 8, line_ns: 90 * kMs}), [], "most of it in other lines");
  const monitor = {...inProcess[2], name: "tqdm_monitor"};
  inProcess.push(monitor);
  assert.deepEqual(await told({line: 8, line_ns: 150 * kMs}), ["8, run.py:1(<module>)"],
    "of a thread that waits none");
});
