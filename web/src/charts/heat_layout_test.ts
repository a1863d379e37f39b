import assert from "node:assert/strict";
import {test} from "node:test";
import {kShades, labelled, lineHeight, pathsOf, shadeOf} from "./heat_layout";

test("a place has the last shade that begins at or below its share", () => {
  assert.equal(shadeOf(null), -1);
  assert.equal(shadeOf(-400), -1);
  assert.equal(shadeOf(49), -1);
  assert.equal(shadeOf(50), 0);
  assert.equal(shadeOf(499), 2);
  assert.equal(shadeOf(1e6), kShades.length - 1);
});

test("places of one shade side by side are one box", () => {
  const paths = pathsOf([[0, 60, 70, 3000], [null, 60, 0, 0]]);
  assert.equal(paths[0], "M1 0h2v1H1zM1 1h1v1H1z");
  assert.equal(paths[5], "M3 0h1v1H3z");
  assert.equal(paths[1], "");
});

test("lines are three to eighteen whole pixels high", () => {
  assert.equal(lineHeight(2), 18);
  assert.equal(lineHeight(100), 7);
  assert.equal(lineHeight(240), 3);
});

test("labels leave each other room", () => {
  assert.deepEqual(labelled(4, 18, 16), [0, 1, 2, 3]);
  assert.deepEqual(labelled(9, 3, 16), [0, 6]);
  assert.deepEqual(labelled(0, 3, 16), []);
});
