import assert from "node:assert/strict";
import {test} from "node:test";
import type {ViewAnswer} from "./answer";
import {rowKey} from "./answer";
import {kNoItems} from "./items";
import {isMaking, tracksOfWorkers, waitFor} from "./loader_workers";
import type {EventAnswer, RunAnswer} from "./protocol";
import type {RunView} from "../state/model";

const kMs = 1e6;

function event(
  name: string, from: number, to: number, track: number, parents: string[] = []): EventAnswer {
  return {
    ref: track,
    name,
    name_id: 0,
    table: "",
    from: from * kMs,
    to: to * kMs,
    track,
    depth: 0,
    row: 0,
    title: "",
    open: false,
    fields: [],
    links: [],
    parents: parents.map((one) => ({ref: 0, name: one, name_id: 0, table: "", from: 0, to: 0})),
  };
}

// The training process with steps of 100 ms, and a worker.
const info = {
  groups: [
    {id: 0, parent: -1, kind: "process", title: "train", rank: -1},
    {id: 1, parent: -1, kind: "process", title: "worker", rank: -1},
  ],
  tracks: [
    {id: 0, group: 0, kind: "phases", rows: 1},
    {id: 1, group: 0, kind: "python", rows: 1},
    {id: 2, group: 1, kind: "python", rows: 4},
    {id: 3, group: 1, kind: "memory", rows: 1},
  ].map((track) => ({...track, from: 0, to: 1000 * kMs})),
  steps: [{
    group: 0,
    count: 3,
    number: [7, 8, 9],
    from: [0, 100 * kMs, 200 * kMs],
    to: [100 * kMs, 200 * kMs, 300 * kMs]
  }],
} as unknown as RunAnswer;

const kFetch = "fetch.py:47(_MapDatasetFetcher.fetch)";

test("tracks of workers are of processes that train nothing", () => {
  assert.deepEqual(tracksOfWorkers(info, event("", 0, 10, 0)).map(({id}) => id), [2]);
  assert.deepEqual(tracksOfWorkers({...info, steps: []}, event("", 0, 10, 0)), []);
});

test("a worker makes a batch where it fetches, and else waits for being asked for one", () => {
  assert.ok(isMaking(event("slow_decode", 0, 1, 2, ["__getitem__", kFetch]), "python"));
  assert.ok(isMaking(event(kFetch, 0, 1, 2), "python"));
  assert.ok(!isMaking(
    event("selectors.py:402(select)", 0, 1, 2, ["worker.py:240(_worker_loop)"]), "python"));
  assert.ok(isMaking(event("decode", 0, 1, 2), "thread"));
  const call = (name: string): EventAnswer => ({...event(name, 0, 1, 2), table: "os_calls"});
  assert.ok(isMaking(call("pread64"), "thread"), "it reads");
  for (const name of ["sem_wait", "accept4", "pthread_cond_timedwait", "poll", "epoll_wait"])
    assert.ok(!isMaking(call(name), "thread"), name);
});

// The phases: steps 7 and 8 wait for 5 and 60 ms.
const run = {
  info,
  palettes: new Map([["phase", new Map([[1, {key: "data_loading"}], [2, {key: "forward"}]])]]),
  source: {
    view: async({from, step}: {from: number; step: number}): Promise<ViewAnswer> => ({
      rows: new Map([[
        rowKey(0, 0), {
          ...kNoItems,
          from,
          step,
          count: 3,
          ref: Uint32Array.of(0, 1, 2),
          name: Uint32Array.of(1, 1, 2),
          merged: Uint32Array.of(1, 1, 1)
        }
      ]])
    } as unknown as ViewAnswer),
    call: async(_: string, {ref}: {ref: number}): Promise<EventAnswer> =>
      ({...event("", [10, 110, 170][ref], [15, 170, 200][ref], 0), ref}),
  },
} as unknown as RunView;

test("the step that waited for a worker is the one whose wait lies in what it did", async () => {
  const wait = await waitFor(run, event("slow_decode", 5, 165, 2, [kFetch]));
  assert.deepEqual(wait, {ref: 1, step: 8, length: 60 * kMs, within: 55 * kMs});
  assert.equal(await waitFor(run, event("slow_decode", 150, 165, 2, [kFetch])), null);
  assert.equal(await waitFor(run, event("slow_decode", 5, 165, 2)), null, "it fetches nothing");
  assert.equal(await waitFor(run, event("train", 5, 165, 1, [kFetch])), null, "it trains");
});
