// What a counter was at a moment, and how it is said.
import {bytes, significant} from "../../format";
import type {Samples} from "./items";
import type {TrackInfo} from "./protocol";

// The least and the greatest value within a step of the picture.
export interface Sample {
  least: number;
  most: number;
}

// null: it is not known.
export function sampleAt(
  {from, step, count, start, least, most, last}: Samples, time: number): Sample|null {
  let low = 0;
  let high = count;  // the first after `time`
  while (low < high) {
    const middle = (low + high) >> 1;
    if (from + start[middle] * step > time) high = middle;
    else low = middle + 1;
  }
  const i = low - 1;
  if (i < 0) return null;
  const within = time < from + (start[i] + 1) * step;
  const found = within ? {least: least[i], most: most[i]} : {least: last[i], most: last[i]};
  return Number.isNaN(found.most) ? null : found;
}

export function counterText(unit: string, value: number): string {
  if (!unit.startsWith("bytes")) return significant(value);
  return bytes(value) + unit.slice("bytes".length);
}

// "609 MiB", "1.2 to 3 GiB"; "not known".
export function sampleText(unit: string, sample: Sample|null): string {
  if (!sample) return "not known";
  const [least, most] = [sample.least, sample.most].map((value) => counterText(unit, value));
  return least === most ? most : `${least} to ${most}`;
}

// What a row of a counter is called.
export function seriesOf({title, series}: TrackInfo, row: number): string {
  const own = series?.[row] ?? "";
  return (series?.length ?? 0) < 2 || own === title ? title : `${title}, ${own}`;
}
