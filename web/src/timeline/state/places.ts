// In words where an event is, as far as there is more than one such place.
import type {Loss} from "../../data";
import {plural, time} from "../../format";
import {sampleText, seriesOf} from "../data/counter";
import type {EventRef, RunAnswer, StepsInfo} from "../data/protocol";
import {moment} from "../draw/ruler";
import type {Model, Reading, RunView} from "./model";

// "live, 29.9 s, 622,509 events, 260 steps, median 52.5 ms".
export function headOf({info}: Pick<RunView, "info">): string {
  const [first, ...others] = info.steps;
  const whose = first && others.length > 0 ? ` of ${processOf(info, first)}` : "";
  const steps = first?.count > 0
    ? `, ${plural(first.count, "step")}${whose}, median ${time(first.median)}`
    : "";
  return `${info.growing ? "live, " : ""}${time(info.duration ?? info.to - info.from)}, ${
    plural(info.events, "event")}${steps}${info.failure ? `, ${info.failure}` : ""}`;
}

function processOf({groups}: RunAnswer, {group}: StepsInfo): string {
  const own = groups.find(({id}) => id === group);
  if (!own) return "one process";
  return own.rank >= 0 ? `rank ${own.rank}` : own.title;
}

// What is missing, of two runs with whose it is.
export function lossesOf({runs}: Pick<Model, "runs">): Loss[] {
  return runs.flatMap((run) => run.info.losses.map((loss) => {
    const letter = runLetter({runs}, run);
    return letter ? {...loss, text: `${letter}: ${loss.text}`} : loss;
  }));
}

// "A", "B" of two runs; "" of one.
export function runLetter({runs}: Pick<Model, "runs">, run: RunView): string {
  return runs.length > 1 ? "AB"[run.index] : "";
}

// "B, rank 1": whose steps these are.
export function whoseSteps(model: Pick<Model, "runs">, run: RunView, steps: StepsInfo): string {
  const {info} = run;
  return [runLetter(model, run), info.steps.length > 1 ? processOf(info, steps) : ""]
    .filter(Boolean)
    .join(", ");
}

// "B, rank 1, ddp.py (pid 605), GPU 1, stream 7": the run, what the track stands in where there are
// several of its kind, and the track.
export function placeOf(
  model: Pick<Model, "runs">, run: RunView, {track}: Pick<EventRef, "track">): string {
  const {groups, tracks} = run.info;
  const own = tracks.find(({id}) => id === track);
  if (!own) return runLetter(model, run);
  const around: string[] = [];
  for (let at = groups.find(({id}) => id === own.group); at;) {
    const {kind, title, parent} = at;
    if (groups.filter((one) => one.kind === kind).length > 1) around.unshift(title);
    at = groups.find(({id}) => id === parent);
  }
  return [runLetter(model, run), ...around, own.title].filter(Boolean).join(", ");
}

// "resident memory, 609 MiB at 21.7 s": of a counter, and how much it was.
export function readingText(
  {view}: Pick<Model, "view">, {run, track, row, time: at, sample}: Reading): [string, string] {
  const value = sampleText(track.counter!.unit, sample);
  return [seriesOf(track, row), `${value} at ${moment(at - run.offset, view.nsPerPixel)}`];
}
