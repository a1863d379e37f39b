import assert from "node:assert/strict";
import {test} from "node:test";
import {flameLayout} from "./flame_layout";

const kParent = [-1, 0, 0, 1];
const kValue = [100, 60, 20, 30];

test("children stand below their parent, as wide as their share", () => {
  const frames = flameLayout(kParent, kValue, 100, -1, 0);
  assert.deepEqual(
    frames.map(({row, level}) => [row, level]),
    [
      [0, 0],
      [1, 1],
      [3, 2],
      [2, 1],
    ],
  );
  assert.equal(frames[1].width, 0.6);
  assert.equal(frames[3].left, 0.6);
});

test("what is in nothing leaves room at the top", () => {
  const [top] = flameLayout(kParent, kValue, 400, -1, 0);
  assert.equal(top.width, 0.25);
});

test("a frame can be the whole", () => {
  const [top, below] = flameLayout(kParent, kValue, 100, 1, 0);
  assert.deepEqual([top.row, top.width], [1, 1]);
  assert.deepEqual([below.row, below.width], [3, 0.5]);
});

test("narrow frames are left out", () => {
  assert.equal(flameLayout(kParent, kValue, 100, -1, 0.25).length, 3);
});

test("children never reach beyond their parent", () => {
  const frames = flameLayout([-1, 0, 0], [10, 10, 10], 10, -1, 0);
  assert.ok(frames[2].left + frames[2].width <= 1 + 1e-9);
});

test("nothing has no frames", () => {
  assert.deepEqual(flameLayout([-1], [0], 0, -1, 0.001), []);
});
