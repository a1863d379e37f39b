// Ticks of the time axis.
import type {StepsInfo} from "../data/protocol";
import {firstEnding} from "../data/steps";
import type {Span} from "../state/viewport";

const kSteps = [1, 2, 5];

// The distance between ticks that are at least `least` px apart: 1, 2 or 5 times a power of ten.
export function tickDistance(nsPerPixel: number, least: number): number {
  const wanted = Math.max(1, nsPerPixel * least);
  const power = 10 ** Math.floor(Math.log10(wanted));
  for (const step of kSteps)
    if (step * power >= wanted) return step * power;
  return 10 * power;
}

// The next shorter distance between ticks.
export function finer(distance: number): number {
  const power = 10 ** Math.floor(Math.log10(distance) + 1e-9);
  const step = Math.round(distance / power);
  return step === 1 ? power / 2 : step === 2 ? power : 2 * power;
}

export function ticks(from: number, to: number, distance: number): number[] {
  const found = [];
  for (let i = Math.ceil(from / distance); i * distance <= to; ++i) found.push(i * distance + 0);
  return found;
}

const kStepPx = 48;  // for its number
const kRound = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 100_000, 1_000_000];

// Steps that are named, by their places: of many that are short the round ones, and each that has
// room for its number.
export function namedSteps(steps: StepsInfo, {from, to}: Span, nsPerPixel: number): number[] {
  const {count, number} = steps;
  const mean = (steps.to[count - 1] - steps.from[0]) / count / nsPerPixel;
  const every = kRound.find((n) => n * mean >= kStepPx) ?? kRound[kRound.length - 1];
  const named = [];
  for (let i = firstEnding(steps.to, from); i < count && steps.from[i] <= to; ++i) {
    const wide = steps.to[i] - steps.from[i] >= kStepPx * nsPerPixel;
    if (wide || number[i] % every === 0) named.push(i);
  }
  return named;
}

export interface Label {
  x: number;
  width: number;
}

// Which labels of a line can be drawn whole, none beyond `end`. Those that end before the next
// one's place come first: what stands at a long stretch is its own name. Of others that touch the
// first. `x` ascends.
export function apart(labels: readonly Label[], gap: number, end: number): boolean[] {
  const behind = labels.map(({x, width}) => x + width + gap);
  const shown = labels.map(({x, width}, i) => x + width <= end && !(behind[i] > labels[i + 1]?.x));
  let taken = -Infinity;
  let next = 0;  // the first that is shown from here on
  labels.forEach(({x, width}, i) => {
    next = Math.max(next, i);
    while (next < labels.length && !shown[next]) ++next;
    if (!shown[i] && x + width <= end && x >= taken && !(behind[i] > labels[next]?.x))
      shown[i] = true;
    if (shown[i]) taken = behind[i];
  });
  return shown;
}

export const kTextPad = 3;  // px around a text

// Whether two texts would touch.
export function touch(a: Label, b: Label): boolean {
  return a.x < b.x + b.width + kTextPad && b.x < a.x + a.width + kTextPad;
}

// Where a text stands in a stretch beside the names of steps: in the middle, else at its end.
// undefined: it has no room.
export function placeBeside({from, to}: {from: number; to: number}, width: number,
  named: readonly Label[]): number|undefined {
  const free = (x: number): boolean => x >= from + kTextPad &&
    named.every((one) => x + width + kTextPad < one.x || x - kTextPad > one.x + one.width);
  return [(from + to - width) / 2, to - width - 2 * kTextPad].find(free);
}

// Where the text of a moment stands: after it, or before it where it would be cut at `end`.
export function placeOfMoment(at: number, width: number, gap: number, end: number): number {
  return at + gap + width <= end ? at + gap : at - gap - width;
}

const kUnits: [number, string][] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]];

// A moment with the digits that a distance of `resolution` ns needs: "1.2345 s".
export function moment(ns: number, resolution: number): string {
  if (ns === 0) return "0 s";
  const [factor, unit] = kUnits.find(([size]) => Math.abs(ns) >= size) ?? kUnits[3];
  const digits = Math.max(0, Math.ceil(Math.log10(factor / Math.max(1, resolution)) - 1e-9));
  return `${(ns / factor).toFixed(Math.min(digits, Math.round(Math.log10(factor))))} ${unit}`;
}
