import assert from "node:assert/strict";
import {test} from "node:test";
import {parseUrl} from "./timeline/state/url_state";
import {timelineFragment} from "./timeline_link";

test("the timeline understands what the report writes", () => {
  assert.equal(parseUrl(timelineFragment({step: 13})).step, 13);
  const name = "void gemm<a & b, 50%>(c=#d)";
  assert.equal(parseUrl(timelineFragment({find: name})).find, name);
  assert.equal(parseUrl(timelineFragment({find: "x".repeat(900)})).find?.length, 200);
  const {from, to, range} = parseUrl(timelineFragment({from: 1000, to: 101_000}));
  assert.deepEqual(range, [1000, 101_000]);
  assert.deepEqual([from, to], [0, 151_000]);
});
