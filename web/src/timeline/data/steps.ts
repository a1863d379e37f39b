// Steps of the training processes of a run.
import type {Ref, RunAnswer, StepsInfo} from "./protocol";
import type {RunView} from "../state/model";
import type {Span} from "../state/viewport";

// The number of the step that a ref stands for; undefined: it is none.
export function stepNumber({info}: RunView, ref: Ref): number|undefined {
  for (const {first_ref, count, number} of info.steps)
    if (ref >= first_ref && ref < first_ref + count) return number[ref - first_ref];
  return undefined;
}

// "step 28 (steady)": a step's event has its kind as its name. undefined: the ref is none.
export function stepTitle(run: RunView, ref: Ref, kind: string): string|undefined {
  const number = stepNumber(run, ref);
  return number === undefined ? undefined : `step ${number} (${kind})`;
}

// The step that a search is for: "step 28"; undefined: it is for a name.
export function searchedStep(text: string): number|undefined {
  const found = /^\s*step\s*#?(\d+)\s*$/i.exec(text);
  return found ? Number(found[1]) : undefined;
}

// The first of ascending ends that is after a time.
export function firstEnding(ends: readonly number[], time: number): number {
  let low = 0;
  let high = ends.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ends[middle] > time) high = middle;
    else low = middle + 1;
  }
  return low;
}

// The steps that lie within a stretch of time, by their places: from `first` to before `behind`.
export function stepsWithin(
  {from, to, count}: StepsInfo, span: Span): {first: number; behind: number} {
  let [first, behind] = [0, count];
  while (first < behind && from[first] < span.from) ++first;
  while (behind > first && to[behind - 1] > span.to) --behind;
  return {first, behind};
}

// The steps that begin and end with a stretch of time, by their numbers; null: none do, or a number
// means another step too.
export function stepsFilling(
  {from, to, number}: StepsInfo, span: Span): {first: number; last: number}|null {
  const [begin, end] = [firstEnding(to, span.from), firstEnding(to, span.to - 1)];
  if (begin > end || from[begin] !== span.from || to[end] !== span.to) return null;
  const isNamed = [begin, end].every((place) => number.indexOf(number[place]) === place);
  return isNamed ? {first: number[begin], last: number[end]} : null;
}

const kShown = 3;  // steps of the first picture

// Steps of the first training process to open at, by their places: as long together as steps
// usually are, so that neither start-up nor a validation fills the picture, of those that count. Of
// a page that holds a part of a run (`whole`), some in that. null: there are too few.
export function typicalSteps({steps}: RunAnswer, whole: Span): {first: number; last: number}|null {
  const {from, to, count} = steps[0] ?? {count: 0};
  if (count < kShown) return null;
  const {first: within, behind} = stepsWithin(steps[0], whole);
  const least = Math.max(1, within);
  const shown = Math.min(kShown, behind - least);
  if (shown <= 0) return null;
  const counted = new Set(steps[0].steady);
  const counts = (i: number): boolean =>
    Array.from({length: shown}, (_, j) => i + j).every((j) => counted.has(j));
  const lengths = from.slice(1).map((start, i) => to[i + 1] - start).sort((a, b) => a - b);
  const usual = shown * lengths[lengths.length >> 1];
  let first = least;
  const off = (i: number): number => Math.abs(to[i + shown - 1] - from[i] - usual);
  for (let i = least + 1; i + shown <= behind; ++i)
    if (counts(i) !== counts(first) ? counts(i) : off(i) < off(first)) first = i;
  return {first, last: first + shown - 1};
}

// The step that a time lies in, by its place; -1: none.
export function stepAt(steps: StepsInfo|undefined, time: number): number {
  if (!steps) return -1;
  const i = firstEnding(steps.to, time);
  return i < steps.from.length && steps.from[i] <= time ? i : -1;
}

// Idle time and what samples found may begin a little before the step that they are about.
const kAboutMostOfIt: readonly string[] = ["idle", "python", "native"];

// The step of an event on a track of this kind, by its place: where it begins, or where most of it
// lies; -1: none. As the server has it (StepOf in event_json.cpp).
export function stepOf(
  steps: StepsInfo|undefined, {from, to}: Span, kind: string|undefined): number {
  const half = (to - from) / 2;
  const middle = kAboutMostOfIt.includes(kind ?? "") ? stepAt(steps, from + half) : -1;
  if (!steps || middle < 0) return stepAt(steps, from);
  const within = Math.min(to, steps.to[middle]) - Math.max(from, steps.from[middle]);
  return within > half ? middle : stepAt(steps, from);
}

// When an event begins in its step.
export function startInStep(event: number, step: number, time: (ns: number) => string): string {
  return event < step ? `${time(step - event)} before its start`
                      : `${time(event - step)} after its start`;
}

// The steps of the process that a group is, or is in; undefined: it trains nothing.
export function stepsOf({steps, groups}: RunAnswer, group: number): StepsInfo|undefined {
  for (const id of groupsAround(groups, group)) {
    const own = steps.find((one) => one.group === id);
    if (own) return own;
  }
  return undefined;
}

// A group and those that it is in, from the inside outwards.
export function groupsAround(groups: RunAnswer["groups"], group: number): number[] {
  const around: number[] = [];
  for (let at = group; at >= 0 && around.length < groups.length;) {
    around.push(at);
    at = groups.find(({id}) => id === at)?.parent ?? -1;
  }
  return around;
}

// "its steps go from 0 to 84", of the first training process.
export function stepsThereAre({steps}: RunAnswer): string {
  const {number} = steps[0] ?? {number: []};
  if (number.length === 0) return "it has no steps";
  return number.length === 1 ? `its only step is ${number[0]}`
                             : `its steps go from ${number[0]} to ${number[number.length - 1]}`;
}

export interface Pair {
  a: number;
  b: number;
}

// The pair of steps of two runs, by number, at which these are compared: in the middle of those
// that count in both; of all where none does.
export function middlePair(
  pairs: readonly Pair[], a: StepsInfo|undefined, b: StepsInfo|undefined): Pair|undefined {
  const countedOf = (steps: StepsInfo|undefined): Set<number> =>
    new Set(steps?.steady.map((place) => steps.number[place]));
  const [inA, inB] = [countedOf(a), countedOf(b)];
  const counted = pairs.filter((pair) => inA.has(pair.a) && inB.has(pair.b));
  const found = counted.length > 0 ? counted : pairs;
  return found[found.length >> 1];
}
