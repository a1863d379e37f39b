import assert from "node:assert/strict";
import {test} from "node:test";
import type {Items} from "../data/items";
import {itemAt} from "../data/items";
import {curve, fillOf, mix, paintCurve, paintItems} from "./strips";

const kRed = 0xff0000ff;
const kGreen = 0xff00ff00;
const kGround = 0xffffffff;

function itemsOf(rows: [number, number, number?][], step = 1, from = 0): Items {
  return {
    from,
    step,
    count: rows.length,
    start: Uint32Array.from(rows, ([start]) => start),
    width: Uint32Array.from(rows, ([, width]) => width),
    ref: Uint32Array.from(rows, (_, i) => i),
    name: Uint32Array.from(rows, (_, i) => i),
    merged: Uint32Array.from(rows, () => 1),
    busy: Uint8Array.from(rows, ([, , busy]) => busy ?? 255),
    flags: new Uint8Array(rows.length),
  };
}

function painted(items: Items, from: number, nsPerPixel: number, width: number): string {
  const pixels = new Uint32Array(width);
  const fills =
    Uint32Array.from(items.busy, (busy, i) => fillOf(i % 2 ? kGreen : kRed, busy, kGround));
  paintItems(pixels, 0, items, {from, nsPerPixel, first: 0, end: width}, fills);
  return [...pixels]
    .map((p) => (p === 0    ? "."
             : p === kRed   ? "r"
             : p === kGreen ? "g"
                            : "m"))
    .join("");
}

test("boxes stand where their times are, with a gap before their neighbours", () => {
  assert.equal(painted(itemsOf([[0, 4], [4, 4]]), 0, 1, 10), "rrr.ggg...");
  assert.equal(painted(itemsOf([[0, 4], [4, 4]]), 2, 1, 10), "r.ggg.....");
  assert.equal(painted(itemsOf([[2, 4]], 1000, 0), 0, 500, 14), "....rrrrrrr...");
});

test("an event shorter than a pixel is seen, and never hides what came before", () => {
  assert.equal(painted(itemsOf([[5, 0]]), 0, 1, 10), ".....r....");
  assert.equal(painted(itemsOf([[0, 1], [1, 1], [2, 1]]), 0, 2, 4), "rr..");
});

test("what is busy for a part is mixed with the ground", () => {
  assert.equal(painted(itemsOf([[0, 4, 128]]), 0, 1, 5), "mmmm.");
  assert.equal(mix(0xff000000, 0xffffffff, 255), 0xffffffff);
  assert.equal(mix(0xff000000, 0xffffffff, 0), 0xff000000);
});

test("only the asked pixels change", () => {
  const pixels = new Uint32Array(10);
  paintItems(pixels, 0, itemsOf([[0, 10]]), {from: 0, nsPerPixel: 1, first: 3, end: 6},
    Uint32Array.of(kRed));
  assert.equal([...pixels].map((p) => Number(p === kRed)).join(""), "0001110000");
});

test("the event under the pointer, or the nearest in reach", () => {
  const items = itemsOf([[10, 5], [20, 1]]);
  assert.equal(itemAt(items, 12, 0), 0);
  assert.equal(itemAt(items, 17, 1), -1);
  assert.equal(itemAt(items, 16, 2), 0);
  assert.equal(itemAt(items, 19, 2), 1);
  assert.equal(itemAt(items, 100, 2), -1);
});

test("a counter holds its value until the next sample", () => {
  const samples = {
    from: 0,
    step: 1,
    count: 3,
    start: Uint32Array.of(2, 4, 4),
    least: Float64Array.of(1, 3, 2),
    most: Float64Array.of(1, 3, 4),
    last: Float64Array.of(1, 3, 2),
  };
  const heights = curve(samples, {from: 0, nsPerPixel: 1, first: 0, end: 6}, 4);
  assert.deepEqual([...heights], [NaN, NaN, NaN, NaN, 0.25, 0.25, 0.25, 0.25, 0.5, 1, 0.5, 0.5]);
});

test("what is not known of a counter is a gap", () => {
  const samples = {
    from: 0,
    step: 1,
    count: 3,
    start: Uint32Array.of(1, 2, 2),
    least: Float64Array.of(4, NaN, 2),
    most: Float64Array.of(4, NaN, 4),
    last: Float64Array.of(4, NaN, NaN),
  };
  const view = {from: 0, nsPerPixel: 1, first: 0, end: 4};
  const heights = curve(samples, view, 4);
  assert.deepEqual([...heights], [NaN, NaN, 1, 1, 0.5, 1, NaN, NaN]);
  const pixels = new Uint32Array(4 * 3);
  paintCurve(pixels, 4, 3, heights, view, kGreen, kRed);
  const text = [...pixels].map((p) => (p === 0 ? "." : p === kRed ? "r" : "g")).join("");
  assert.equal(text.match(/..../g)?.join("/"), ".rr./.gr./.gg.");
});

test("the area of a counter has a line on top, also where it jumps", () => {
  const pixels = new Uint32Array(3 * 4);
  const heights = Float32Array.of(0, 0, 1, 1, 1 / 3, 1 / 3);
  paintCurve(pixels, 3, 4, heights, {from: 0, nsPerPixel: 1, first: 0, end: 3}, kGreen, kRed);
  const text = [...pixels].map((p) => (p === 0 ? "." : p === kRed ? "r" : "g")).join("");
  assert.equal(text.match(/.../g)?.join("/"), ".rr/.rr/.rr/rrg");
});

test("a counter that is higher than it was said to be stays in its row", () => {
  const pixels = new Uint32Array(1 * 4);
  const heights = Float32Array.of(0, 1e9);
  paintCurve(pixels, 1, 4, heights, {from: 0, nsPerPixel: 1, first: 0, end: 1}, kGreen, kRed);
  assert.deepEqual([...pixels], [kRed, kRed, kRed, kRed]);
});
