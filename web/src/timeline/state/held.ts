// What a file holds of a run, where that is a part, and how what it lacks is said. What the run
// itself never had is told apart from it.
import type {RunAnswer} from "../data/protocol";
import {stepsThereAre, stepsWithin} from "../data/steps";
import {moment} from "../draw/ruler";
import type {Range} from "./model";
import type {Span} from "./viewport";

const kSaidNs = 1e6;

// Whether the page holds a part of the run only.
export function isPart({static: held}: RunAnswer): boolean {
  return (held?.left_out ?? 0) > 0;
}

// For sentences about what was looked for: " in this file", "".
export function inFile(info: RunAnswer): string {
  return isPart(info) ? " in this file" : "";
}

// The steps that are there as a whole, by their places: from `first` to before `behind`.
export function heldSteps(info: RunAnswer, process = 0): {first: number; behind: number} {
  const steps = info.steps[process];
  if (!steps) return {first: 0, behind: 0};
  const {static: held} = info;
  return held && isPart(info) ? stepsWithin(steps, held) : {first: 0, behind: steps.count};
}

function numbersOf(info: RunAnswer, process: number, first: number, behind: number): string {
  const {number} = info.steps[process];
  return behind - first === 1 ? String(number[first]) : `${number[first]} to ${number[behind - 1]}`;
}

// "steps 2 to 28", "step 7"; of the first training process unless told.
export function heldStepsText(info: RunAnswer, process = 0): string {
  const {first, behind} = heldSteps(info, process);
  if (behind <= first) return "no whole step";
  const plural = behind - first === 1 ? "" : "s";
  return `step${plural} ${numbersOf(info, process, first, behind)}`;
}

function seeAll({source}: RunAnswer): string {
  return `batchlight view ${source} shows all.`;
}

// Why there is nothing to show of steps; "": there is.
// `run`: what it is called beside another.
export function lackOfSteps(
  info: RunAnswer, first: number, last: number, process = 0, run = ""): string {
  const asked = first === last ? `step ${first}` : `steps ${first} to ${last}`;
  const number = info.steps[process]?.number ?? [];
  const [begin, end] = [number.indexOf(first), number.indexOf(last)];
  if (begin < 0 || end < begin) {
    return `${run || "This recording"} has no ${asked}: ${stepsThereAre(info)}.`;
  }
  const held = heldSteps(info, process);
  if (begin < held.behind && end >= held.first) return "";
  return `This file does not hold ${asked}: it holds ${heldStepsText(info, process)}. ${
    seeAll(info)}`;
}

function timesText({from, to}: Span): string {
  return `${moment(from, kSaidNs)} to ${moment(to, kSaidNs)}`;
}

// Why there is nothing to show of a stretch of time; "": there may be.
export function lackOfTime(info: RunAnswer, {from, to}: Span): string {
  const {static: held} = info;
  if (!held || !isPart(info) || (from < held.to && to > held.from)) return "";
  return `This file holds nothing of this time: it holds ${timesText(held)}, ${
    heldStepsText(info)}. ${seeAll(info)}`;
}

// What the sums of a range are of, where the file holds a part of it; "": all of it.
export function heldOfRange(info: RunAnswer, range: Range): string {
  const {static: held} = info;
  if (!held || !isPart(info)) return "";
  const {steps} = range;
  if (!steps) {
    if (range.from >= held.from && range.to <= held.to) return "";
    const both = {from: Math.max(range.from, held.from), to: Math.min(range.to, held.to)};
    return `Sums of ${timesText(both)}: this file holds nothing of the rest.`;
  }
  const process = steps.process ?? 0;
  const {number} = info.steps[process];
  const [begin, end] = [number.indexOf(steps.first), number.indexOf(steps.last)];
  const {first, behind} = heldSteps(info, process);
  const [from, to] = [Math.max(begin, first), Math.min(end + 1, behind)];
  const all = end + 1 - begin;
  if (to - from === all) return "";
  return `Sums of ${to - from} of these ${all} steps, ${
    numbersOf(info, process, from, to)}: this file holds no others.`;
}
