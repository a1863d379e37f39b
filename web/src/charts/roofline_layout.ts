// Where things of a roofline chart are drawn: scales, shapes of dots, labels that do not cover each
// other.
import type {Dot, Roofline} from "../roofline";
import {logAxis} from "./axis";
import type {LogAxis} from "./axis";

export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

export interface Axes {
  x: LogAxis;  // operations a byte
  y: LogAxis;  // TFLOP/s
}

// All dots, what each could attain, and the points where the roofs meet.
export function axesOf(of: Roofline, ticks: {x: number, y: number}): Axes {
  const {dots, peaks, bandwidth} = of;
  const ridges = bandwidth ? peaks.map(({peak}) => peak / bandwidth.peak) : [];
  const x = [...dots.map(({intensity}) => intensity), ...ridges];
  const y = [
    ...dots.flatMap(({tflops, attainable}) => attainable ? [tflops, attainable] : [tflops]),
    ...peaks.map(({peak}) => peak),
  ];
  return {x: axisOf(x, ticks.x, 0.5), y: axisOf(y, ticks.y, 0)};
}

const kFewestTimes = 100;  // from the least to the most: of one dot too the roofs can be told

// `above`: which part of what is missing to that goes beyond the most; nothing is above the roofs.
function axisOf(values: readonly number[], ticks: number, above: number): LogAxis {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  const room = Math.max(1, kFewestTimes / (most / least));
  return logAxis(least / room ** (1 - above), most * room ** above, ticks);
}

// The stretch of a bandwidth's line within the axes, below the highest peak; null: none of it.
export function slopeOf(
  {x, y}: Axes, bandwidth: number, highest: number): {from: number, to: number}|null {
  const from = Math.max(x.min, y.min / bandwidth);
  const to = Math.min(x.max, (highest > 0 ? Math.min(highest, y.max) : y.max) / bandwidth);
  return from < to ? {from, to} : null;
}

const kSmallest = 4;
const kLargest = 18;

// As large in area as its share of the time; a step has one size.
export function radiusOf(dot: Dot): number {
  if (dot.number === null) return 9;
  return Math.max(kSmallest, kLargest * Math.sqrt((dot.share ?? 0) / 100));
}

// How far it reaches to the right.
export function reachOf(dot: Dot): number {
  return radiusOf(dot) * (dot.number === null ? 1.4 : 1);
}

export type Shape = "circle"|"triangle"|"diamond"|"square"|"star";

const kShapes: Record<string, Shape> = {
  DRAM: "triangle",
  L2: "diamond",
  L1: "square"
};

// By what bounds it.
export function shapeOf({number, roof}: Dot): Shape {
  return number === null ? "star" : kShapes[roof] ?? "circle";
}

// As large in area as a circle of that radius.
export function markerPath(shape: Shape, x: number, y: number, radius: number): string {
  const at = (part: number, size: number): string => {
    const angle = 2 * Math.PI * part - Math.PI / 2;
    return `${(x + size * Math.cos(angle)).toFixed(1)} ${(y + size * Math.sin(angle)).toFixed(1)}`;
  };
  const corners = (count: number, size: number, turn = 0): string =>
    `M${Array.from({length: count}, (_, i) => at((i + turn) / count, size)).join("L")}z`;
  if (shape === "triangle") return corners(3, radius * 1.56);
  if (shape === "diamond") return corners(4, radius * 1.25);
  if (shape === "square") return corners(4, radius * 1.25, 0.5);
  if (shape === "star") {
    const points =
      Array.from({length: 10}, (_, i) => at(i / 10, radius * (i % 2 === 0 ? 1.45 : 0.65)));
    return `M${points.join("L")}z`;
  }
  return `M${x - radius} ${y}a${radius} ${radius} 0 1 0 ${2 * radius} 0a${radius} ${radius} 0 1 0 ${
    - 2 * radius} 0z`;
}

export function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

export interface Point {
  x: number;
  y: number;
}

// Where on the line a label covers no dot: its middle, at least `end` from both ends of the line.
// If there is no such place, the one that is farthest from dots.
export function freePlace(from: Point, to: Point, end: number, dots: readonly Point[]): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y);
  const margin = Math.min(0.5, end / length);
  const steps = 12;
  let [best, farthest] = [from, -1];
  for (let i = 0; i <= steps; ++i) {
    const along = margin + ((1 - 2 * margin) * i) / steps;
    const place = {x: from.x + (to.x - from.x) * along, y: from.y + (to.y - from.y) * along};
    const nearest = Math.min(...dots.map(({x, y}) => Math.hypot(x - place.x, y - place.y)));
    if (nearest >= end + kLargest) return place;
    if (nearest > farthest) [best, farthest] = [place, nearest];
  }
  return best;
}

// Heights of labels above their lines, at least `gap` apart; `lines` from the top down.
export function labelHeights(lines: readonly number[], gap: number): number[] {
  let last = -Infinity;
  return lines.map((line) => (last = Math.max(line - 5, last + gap)));
}
