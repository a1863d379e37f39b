import assert from "node:assert/strict";
import {test} from "node:test";
import type {ViewAnswer} from "./answer";
import type {Items} from "./items";
import {kNoItems} from "./items";
import type {RowRange, ViewRequest} from "./protocol";
import type {Source} from "./source";
import {ViewCache} from "./view_cache";

class FakeSource implements Source {
  readonly isStatic = false;
  requests: ViewRequest[] = [];
  broken = false;
  private waiting: (() => void)[] = [];

  async call<Answer>(): Promise<Answer> {
    throw new Error("not asked here");
  }

  view(request: ViewRequest): Promise<ViewAnswer> {
    this.requests.push(request);
    if (this.broken) return Promise.reject(new Error("gone"));
    const {from, to, step} = request;
    const rows = new Map<string, Items>();
    for (const [track, first, count] of request.rows)
      for (let row = first; row < first + count; ++row)
        rows.set(`${track}:${row}`, {...kNoItems, from, step});
    const answer =
      {from, to, step, shrunk: false, generation: 1, rows, counters: new Map(), bytes: 1000};
    return new Promise((resolve) => this.waiting.push(() => resolve(answer)));
  }

  async answerAll(): Promise<void> {
    for (const one of this.waiting.splice(0)) one();
    for (let i = 0; i < 5; ++i) await Promise.resolve();
  }
}

const whole = {
  from: 0,
  to: 1_000_000_000
};
const rows: RowRange[] = [[1, 0, 3]];

function cacheOf(source: Source): ViewCache {
  let clock = 0;
  return new ViewCache(source, whole, () => {}, (error) => {
    throw error;
  }, () => (clock += 1000));
}

test("a pan within the skirt asks for nothing", async () => {
  const source = new FakeSource();
  const cache = cacheOf(source);
  assert.equal(cache.want({from: 4e8, to: 5e8}, 1e5, rows), false);
  assert.equal(cache.want({from: 4e8, to: 5e8}, 1e5, rows), false);  // on its way
  assert.equal(source.requests.length, 1);
  assert.equal(source.requests[0].step, 65536);
  await source.answerAll();
  assert.equal(cache.want({from: 4.9e8, to: 5.9e8}, 1e5, rows), true);
  assert.equal(cache.want({from: 4.1e8, to: 4.9e8}, 0.8e5, rows), true);
  assert.equal(cache.want({from: 6e8, to: 7e8}, 1e5, rows), false);
  assert.equal(cache.want({from: 4e8, to: 4.5e8}, 0.5e5, rows), false);
  assert.equal(cache.want({from: 4e8, to: 5e8}, 1e5, [[2, 0, 1]]), false);
  assert.equal(source.requests.length, 4);
});

test("beyond the run there is nothing to ask for", () => {
  const source = new FakeSource();
  assert.equal(cacheOf(source).want({from: -2e8, to: -1e8}, 1e5, rows), true);
  assert.equal(source.requests.length, 0);
});

test("coarse data fills what the fine does not cover", async () => {
  const source = new FakeSource();
  const cache = cacheOf(source);
  cache.want(whole, 1e6, rows);
  await source.answerAll();
  cache.want({from: 4e8, to: 4.1e8}, 1e4, rows);
  await source.answerAll();
  const layers = cache.itemsOf(1, 0, {from: 4.05e8, to: 4.25e8}, 2e4);
  assert.deepEqual(layers.map(({data}) => data.step), [8192, 524288]);
  assert.equal(layers[0].to, layers[1].from);
  assert.equal(layers[1].to, 4.25e8);
  assert.deepEqual(cache.itemsOf(1, 0, whole, 1e6).map(({data}) => data.step), [524288]);
  assert.deepEqual(cache.itemsOf(9, 0, whole, 1e6), []);
});

test("a server that is gone is not asked again and again", async () => {
  const source = new FakeSource();
  let [clock, errors] = [0, 0];
  const cache = new ViewCache(source, whole, () => {}, () => ++errors, () => clock);
  source.broken = true;
  for (; clock < 60_000; clock += 100) {
    cache.want(whole, 1e6, rows);
    for (let i = 0; i < 5; ++i) await Promise.resolve();
  }
  assert.equal(errors, source.requests.length);
  assert.ok(errors >= 5 && errors <= 7, `${errors} requests in a minute`);
  assert.ok(cache.failing);
  source.broken = false;
  clock += 30_000;
  cache.want(whole, 1e6, rows);
  await source.answerAll();
  assert.ok(!cache.failing && cache.want(whole, 1e6, rows));
});

test("what was answered is not drawn for tracks that have other ids now", async () => {
  const source = new FakeSource();
  const cache = cacheOf(source);
  const span = {from: 0, to: 1_000_000};
  cache.want(span, 1000, rows);
  await source.answerAll();
  cache.renew(whole, true);
  assert.equal(cache.itemsOf(1, 0, span, 1000).length, 1);
  cache.renew(whole, false);
  assert.equal(cache.itemsOf(1, 0, span, 1000).length, 0);
});
