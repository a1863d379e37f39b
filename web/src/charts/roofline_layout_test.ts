import assert from "node:assert/strict";
import {test} from "node:test";
import type {Dot, Roofline} from "../roofline";
import {axesOf, freePlace, labelHeights, markerPath, overlaps, radiusOf, shapeOf, slopeOf} from "./roofline_layout";

function dot(given: Partial<Dot>): Dot {
  return {
    kernel: 0,
    place: "",
    number: 1,
    share: 25,
    type: "fp32",
    roof: "fp32",
    tflops: 10,
    attainable: 20,
    attained: 50,
    atMost: false,
    intensity: 4,
    ...given,
  };
}

function rooflineOf(given: Partial<Roofline>): Roofline {
  return {
    level: {key: "dram", name: "DRAM"},
    dots: [dot({}), dot({intensity: 0.5, tflops: 0.2, attainable: null})],
    bandwidth: {name: "DRAM", peak: 5},
    peaks: [{name: "fp32", peak: 60}],
    idle: [],
    local: [],
    uncounted: {kernels: 0, share: 0},
    clocks: null,
    ...given,
  };
}

test("axes hold the dots, the roofs and where they meet", () => {
  const {x, y} = axesOf(rooflineOf({}), {x: 5, y: 5});
  assert.ok(x.min < 0.5 && x.max > 12);
  assert.ok(y.min < 0.2 && y.max > 60);
  const bare = axesOf(rooflineOf({bandwidth: null, peaks: []}), {x: 5, y: 5});
  assert.ok(bare.y.max > 20, "what is attainable is shown");
  const one = axesOf(rooflineOf({dots: [dot({})], bandwidth: null, peaks: []}), {x: 5, y: 5});
  assert.ok(one.x.max / one.x.min > 100 && one.y.max / one.y.min > 100);
  assert.ok(one.y.max < 40, "and no more above it");
});

test("a bandwidth's line ends below the highest peak and within the axes", () => {
  const axes = axesOf(rooflineOf({}), {x: 5, y: 5});
  const line = slopeOf(axes, 5, 60);
  assert.equal(line?.to, 12);
  assert.ok((line?.from ?? 0) >= axes.x.min && (line?.from ?? 0) * 5 >= axes.y.min * 0.999);
  assert.equal(slopeOf(axes, 1e9, 60), null);
});

test("shapes tell what bounds a kernel, sizes its share of the time", () => {
  assert.deepEqual(["fp32", "DRAM", "L2", "L1", ""].map((roof) => shapeOf(dot({roof}))),
    ["circle", "triangle", "diamond", "square", "circle"]);
  assert.equal(shapeOf(dot({number: null, roof: "DRAM"})), "star");
  assert.ok(Math.abs(radiusOf(dot({share: 40})) / radiusOf(dot({share: 10})) - 2) < 1e-9);
  assert.equal(radiusOf(dot({share: 0})), radiusOf(dot({share: null})));
  for (const shape of ["circle", "triangle", "diamond", "square", "star"] as const) {
    assert.match(markerPath(shape, 10, 20, 5), /^M[-\dLahv .]+z$/);
  }
});

test("a label on a line keeps off the dots", () => {
  const [from, to] = [{x: 0, y: 0}, {x: 400, y: 0}];
  assert.deepEqual(freePlace(from, to, 40, []), {x: 40, y: 0});
  const beside = freePlace(from, to, 40, [{x: 50, y: 5}]);
  assert.ok(beside.x > 100 && beside.x <= 360);
  const crowded = freePlace(from, {x: 90, y: 0}, 40, [{x: 0, y: 0}]);
  assert.equal(crowded.x, 50, "the farthest");
});

test("labels of lines that lie close do not cover each other", () => {
  assert.deepEqual(labelHeights([100, 104, 160], 13), [95, 108, 155]);
  const box = {left: 0, top: 0, right: 10, bottom: 10};
  assert.ok(overlaps(box, {left: 5, top: 5, right: 15, bottom: 15}));
  assert.ok(!overlaps(box, {left: 10, top: 0, right: 20, bottom: 10}));
});
