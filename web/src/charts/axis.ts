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

export interface LogAxis {
  min: number;
  max: number;
  ticks: Tick[];
  share(value: number): number;  // where on the axis, 0 to 1
}

// A logarithmic axis around positive values, with at most `count` ticks: 1, 2 and 5 times a power
// of ten, or the powers alone, or only some of them. Two there are always.
export function logAxis(least: number, most: number, count: number): LogAxis {
  const room = 1.6;  // beyond the values
  const min = least / room;
  const max = Math.max(most, least) * room;
  const span = Math.log10(max / min);
  const [first, last] = [Math.floor(Math.log10(min)), Math.ceil(Math.log10(max))];
  const powers = Array.from({length: last - first + 1}, (_, i) => first + i);
  const ticksOf = (every: number, times: number[]): number[] =>
    powers.filter((power) => power % every === 0)
      .flatMap((power) => times.map((factor) => factor * 10 ** power))
      .filter((value) => value >= min * (1 - 1e-9) && value <= max * (1 + 1e-9));
  const finest = ticksOf(1, [1, 2, 5]);
  const choices = [finest, ...powers.map((_, i) => ticksOf(i + 1, [1]))];
  const fitting = choices.find((ticks) => ticks.length <= count && ticks.length > 1);
  return {
    min,
    max,
    ticks: (fitting ?? finest).map((value) => ({value, label: powerText(value)})),
    share: (value) => Math.log10(value / min) / span,
  };
}

const kSuperscript = "⁰¹²³⁴⁵⁶⁷⁸⁹";

// 0.01, 1, 1,000; what has more zeros as a power: 10⁻⁴.
function powerText(value: number): string {
  const power = Math.floor(Math.log10(value) + 1e-9);
  const isPower = Math.abs(value / 10 ** power - 1) < 1e-9;
  if (!isPower || (power >= -3 && power <= 4)) return fixed(value, Math.max(0, -power));
  const digits = [...String(Math.abs(power))].map((digit) => kSuperscript[Number(digit)]).join("");
  return `10${power < 0 ? "⁻" : ""}${digits}`;
}

// Whole numbers in [first, last], at most `count` of them, on round values.
export function integerTicks(first: number, last: number, count: number): number[] {
  const step = Math.max(1, niceStep(Math.max(1, last - first), count));
  const ticks: number[] = [];
  for (let value = Math.ceil(first / step) * step; value <= last; value += step) ticks.push(value);
  return ticks;
}
