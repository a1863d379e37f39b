// A row of the timeline as one line of pixels. Its cost hardly depends on how many events there
// are, it needs no GPU, and it can be read back in a test.
import type {Items, Samples} from "../data/items";
import {firstEndingAfter, higher, lower} from "../data/items";

export interface StripView {
  from: number;        // ns at the left edge
  nsPerPixel: number;  // device pixels
  first: number;       // pixels [first, end) are painted
  end: number;
}

// Where a time of the items stands on the screen: a + b * steps.
function place(items: {from: number; step: number}, view: StripView): {a: number; b: number} {
  return {a: (items.from - view.from) / view.nsPerPixel, b: items.step / view.nsPerPixel};
}

const kGapFrom = 3;  // pixels from which a box ends one pixel early, so that neighbours stand apart
const kByHand = 16;  // px up to which a loop is faster than a call
const kFaintest = 96;  // of 255: a lone short event in a run stays visible

// How an item looks in the strip: its colour, mixed with the ground where only a part of it is
// busy.
export function fillOf(color: number, busy: number, ground: number): number {
  return busy === 255 ? color : mix(ground, color, Math.max(kFaintest, busy));
}

// Paints `items` into pixels[offset ...]; fills[i] is the colour of item i as ABGR. Returns the
// items that are at least `wide` pixels wide.
export function paintItems(
  pixels: Uint32Array,
  offset: number,
  items: Items,
  view: StripView,
  fills: Uint32Array,
  wide = Infinity,
  ): number[] {
  const {a, b} = place(items, view);
  const {start, width, busy, count} = items;
  const {first, end} = view;
  const labelled: number[] = [];
  let painted = first;  // pixels before are taken by an earlier item
  const begin = firstEndingAfter(items, view.from + first * view.nsPerPixel);
  for (let i = begin; i < count; ++i) {
    const left = a + b * start[i];
    if (left >= end) break;
    let x0 = Math.floor(left);
    let x1 = Math.floor(left + b * width[i]);
    if (x1 - x0 < kGapFrom) {
      if (x1 <= x0) x1 = x0 + 1;
      if (x1 <= painted) continue;  // its pixel shows an earlier event
    } else if (busy[i] === 255) {
      --x1;
    }
    if (x0 < painted) x0 = painted;
    if (x1 > end) x1 = end;
    if (x1 <= x0) continue;
    const fill = fills[i];
    if (x1 - x0 > kByHand) pixels.fill(fill, offset + x0, offset + x1);
    else
      for (let x = x0; x < x1; ++x) pixels[offset + x] = fill;
    painted = x1;
    if (x1 - x0 >= wide) labelled.push(i);
  }
  return labelled;
}

// `share` of 255 of `over` on `under`; opaque.
export function mix(under: number, over: number, share: number): number {
  const rest = 255 - share;
  const r = ((under & 255) * rest + (over & 255) * share) / 255;
  const g = (((under >>> 8) & 255) * rest + ((over >>> 8) & 255) * share) / 255;
  const b = (((under >>> 16) & 255) * rest + ((over >>> 16) & 255) * share) / 255;
  return ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;
}

// The height of a counter in every pixel, as shares of `most` in 0..1: [least, greatest] pairs, NaN
// where it is not known. A value holds until the next sample.
export function curve(samples: Samples, view: StripView, most: number): Float32Array {
  const {a, b} = place(samples, view);
  const heights = new Float32Array(2 * view.end);
  const scale = most > 0 ? 1 / most : 0;
  let held = NaN;
  let x = view.first;
  for (let i = 0; i < samples.count && x < view.end; ++i) {
    const at = Math.floor(a + b * samples.start[i]);
    for (; x < Math.min(at, view.end); ++x) heights.fill(held, 2 * x, 2 * x + 2);
    const least = samples.least[i] * scale;
    const greatest = samples.most[i] * scale;
    held = samples.last[i] * scale;
    if (at < view.first || at >= view.end) continue;
    const again = x > at;  // several samples in one pixel
    heights[2 * at] = again ? lower(heights[2 * at], least) : least;
    heights[2 * at + 1] = again ? higher(heights[2 * at + 1], greatest) : greatest;
    x = at + 1;
  }
  for (; x < view.end; ++x) heights.fill(held, 2 * x, 2 * x + 2);
  return heights;
}

// A counter as an area with a line on top, `height` lines of `width` pixels from the top down.
export function paintCurve(pixels: Uint32Array, width: number, height: number,
  heights: Float32Array, {first, end}: StripView, area: number, line: number): void {
  // A sample that is newer than what is known of the whole may be higher.
  const lineOf = (share: number): number => Math.round(Math.min(1, share) * (height - 1));
  let before = NaN;
  for (let x = first; x < end; ++x) {
    const least = lineOf(heights[2 * x]);
    const most = lineOf(heights[2 * x + 1]);
    const [low, high] = Number.isNaN(most) ? [0, -1] : [lower(least, before), higher(most, before)];
    for (let y = 0; y <= high; ++y) pixels[(height - 1 - y) * width + x] = y < low ? area : line;
    before = most;
  }
}
