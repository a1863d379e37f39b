// Ticks of an axis: round numbers in the shown unit, such as 0, 5, 10, ... ms and not 0, 4.77, ...
import {fixed, scaleFor} from "../format";
import type {Scale} from "../format";
import type {Unit} from "../data";

export interface Tick {
  value: number;  // base unit
  label: string;
}

export interface Axis {
  scale: Scale;
  ticks: Tick[];
  max: number;  // base unit; the last tick or a little beyond
}

// 1, 2 or 5 times a power of ten, chosen so that [0, range] has at most `count` steps.
export function niceStep(range: number, count: number): number {
  const rough = range / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const multiple = [1, 2, 5, 10].find((m) => m * power >= rough * (1 - 1e-9)) ?? 10;
  return multiple * power;
}

// An axis from 0 to at least `largest`.
export function axisFromZero(unit: Unit, largest: number, count: number): Axis {
  const scale = scaleFor(unit, largest);
  const top = largest > 0 ? largest / scale.factor : 1;
  const step = niceStep(top, count);
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const last = Math.ceil(top / step - 1e-9);
  const ticks: Tick[] = [];
  for (let i = 0; i <= last; ++i) {
    ticks.push({value: i * step * scale.factor, label: fixed(i * step, decimals)});
  }
  return {scale, ticks, max: last * step * scale.factor};
}

// Whole numbers in [first, last], at most `count` of them, on round values.
export function integerTicks(first: number, last: number, count: number): number[] {
  const step = Math.max(1, niceStep(Math.max(1, last - first), count));
  const ticks: number[] = [];
  for (let value = Math.ceil(first / step) * step; value <= last; value += step) ticks.push(value);
  return ticks;
}
