import assert from "node:assert/strict";
import {test} from "node:test";
import {clamped, framed, kShortestNs, lengthOf, panned, stepFor, Viewport, zoomed} from "./viewport";

const whole = {
  from: 0,
  to: 1e9
};

test("a time has one place and back", () => {
  const view = new Viewport(1e8, 2e8, 1000);
  assert.equal(view.x(1.5e8), 500);
  assert.equal(view.timeAt(500), 1.5e8);
  assert.equal(view.nsPerPixel, 1e5);
});

test("zooming keeps the time under the pointer", () => {
  const before = new Viewport(1e8, 2e8, 1000);
  const span = zoomed(before.span, before.timeAt(300), 0.5, whole);
  const after = new Viewport(span.from, span.to, 1000);
  assert.ok(Math.abs(after.x(before.timeAt(300)) - 300) < 1e-6);
  assert.equal(lengthOf(span), 5e7);
});

test("the view neither leaves the run nor gets shorter than it can show", () => {
  assert.deepEqual(panned({from: 0, to: 1e8}, -1e9, whole), {from: -0.25e8, to: 0.75e8});
  assert.deepEqual(panned({from: 0, to: 1e8}, 1e10, whole), {from: 9.25e8, to: 10.25e8});
  assert.equal(lengthOf(zoomed({from: 0, to: 100}, 50, 1e-9, whole)), kShortestNs);
  assert.equal(lengthOf(zoomed(whole, 5e8, 1e9, whole)), 1.5e9);
  assert.equal(lengthOf(clamped({from: 5, to: 5}, whole)), kShortestNs);
});

test("what is framed has room around it", () => {
  const span = framed({from: 4e8, to: 5e8}, whole);
  assert.deepEqual(span, {from: 3.9e8, to: 5.1e8});
});

test("the step is a power of two and no wider than a pixel", () => {
  assert.deepEqual([0.3, 1, 1.9, 2, 1000, 1024].map(stepFor), [1, 1, 1, 2, 512, 1024]);
});
