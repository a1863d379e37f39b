// The steps of a process as the chart of their times shows them.
import {kSteady} from "../../data";
import type {ColumnBar, StepTimes} from "../../charts/columns";
import {count, significant, time} from "../../format";
import type {RunAnswer, StepsInfo} from "./protocol";

export interface ChartPhase {
  key: string;  // of the report's palette
  label: string;
  idle: boolean;
}

const kOtherRanges = -1;  // of the answer, in place of a name

export function phasesOf({palettes}: RunAnswer, {phases}: StepsInfo): ChartPhase[] {
  const known = new Map<number, ChartPhase>((palettes.phase ?? []).map((one) => [one.name, one]));
  known.set(kOtherRanges, {key: "range", label: "other ranges", idle: false});
  return phases.names.map((name) => known.get(name) ?? {key: "other", label: "?", idle: false});
}

// In loops: a run may have a hundred thousand steps, and one that goes on is charted each second.
export function timesOf({from, to, count: all, steady, outlier, phases}: StepsInfo): StepTimes {
  const lengths = new Float64Array(all);
  for (let i = 0; i < all; ++i) lengths[i] = to[i] - from[i];
  const kind = new Uint8Array(all).fill(kSteady + 1);
  for (const place of steady) kind[place] = kSteady;
  const phase_ns = phases.us.map((us) => {
    const own = new Float64Array(all);
    for (let i = 0; i < all; ++i) own[i] = 1000 * us[Math.floor(i / phases.group)];
    return own;
  });
  return {duration_ns: lengths, duration_max_ns: lengths, phase_ns, kind, outlier};
}

// "warm-up", "steady".
export function kindOf({kinds}: StepsInfo, place: number): string {
  let label = "";
  for (const [first, name] of kinds) {
    if (first > place) break;
    label = name;
  }
  return label;
}

// The longest step of a column, by its place.
export function longestIn({from, to}: StepsInfo, {first, last}: ColumnBar): number {
  let longest = first;
  for (let i = first + 1; i <= last; ++i)
    if (to[i] - from[i] > to[longest] - from[longest]) longest = i;
  return longest;
}

// "unusually long: 3.4 times the median", "warm-up"; "": as most are.
function judged(steps: StepsInfo, place: number): string {
  if (!steps.outlier.includes(place))
    return steps.steady.includes(place) ? "" : kindOf(steps, place);
  const times = (steps.to[place] - steps.from[place]) / steps.median;
  return `unusually long: ${significant(times)} times the median`;
}

// "step 20", "3.06 ms, unusually long: 2 times the median".
export function stepWords(steps: StepsInfo, place: number): [name: string, words: string] {
  const {number, from, to} = steps;
  const kind = judged(steps, place);
  return [`step ${number[place]}`, `${time(to[place] - from[place])}${kind ? `, ${kind}` : ""}`];
}

// The same of a column; of several steps their mean, and the longest of them.
export function columnWords(steps: StepsInfo, column: ColumnBar): [name: string, words: string] {
  const {first, last, duration_ns} = column;
  if (first === last) return stepWords(steps, first);
  const [name, words] = stepWords(steps, longestIn(steps, column));
  const {number} = steps;
  return [
    `steps ${number[first]} to ${number[last]}`,
    `${time(duration_ns)} on average; longest of these ${count(last - first + 1)}: ${name}, ${
      words}`,
  ];
}
