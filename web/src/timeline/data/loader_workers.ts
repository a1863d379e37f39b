// What processes that make batches do for the steps that wait for them.
import {rowKey} from "./answer";
import type {EventAnswer, Ref, RunAnswer, TrackInfo} from "./protocol";
import {groupsAround, stepAt} from "./steps";
import type {RunView} from "../state/model";

const kLeastNs = 5e6;
const kEnoughOf = 0.5;  // of a wait
const kKinds = ["thread", "python"];
const kMostTracks = 200;
const kSteps = 256;  // of a stretch, in which it is looked at
// Calls of the C library in which a thread waits for another one, or for somebody to call.
const kWaits =
  /^(sem_|pthread_(cond|join|barrier)|futex|accept|p?poll|p?select|epoll_|wait|sig(timed)?wait|nanosleep|clock_nanosleep)/;
const kFetch = /\bfetch\.py:\d+\(.*fetch\)$/;  // of torch.utils.data, in a worker

// Whether the track's process has no steps of its own.
function isBeside({groups, steps}: RunAnswer, group: number): boolean {
  const process = groupsAround(
    groups, group).find((id) => groups.find((one) => one.id === id)?.kind === "process");
  return process !== undefined && steps.length > 0 && steps.every((one) => one.group !== process);
}

// Whether a step waits for data in this event.
export function isWaitForData(run: RunView, event: EventAnswer): boolean {
  return event.to - event.from >= kLeastNs && phaseOf(run, event) === "data_loading";
}

// "data_loading"; undefined: the event is no phase of a step.
export function phaseOf({palettes}: RunView, {table, name_id}: EventAnswer): string|undefined {
  return table === "step_phases" ? palettes.get("phase")?.get(name_id)?.key : undefined;
}

// Tracks of processes beside those that train, that have something then.
export function tracksOfWorkers(info: RunAnswer, {from, to}: EventAnswer): TrackInfo[] {
  return info.tracks
    .filter((track) => kKinds.includes(track.kind) && track.from < to && track.to > from &&
        isBeside(info, track.group))
    .slice(0, kMostTracks);
}

// Whether a thread waits in this call of the C library for another one, or until somebody calls.
export function isWaitingCall({table, name}: EventAnswer): boolean {
  return table === "os_calls" && kWaits.test(name);
}

// Whether a worker makes a batch in this event, and does not wait for being asked for one, or for
// something to send: samples see the function that fetches around it, and what is recorded is work
// but for calls that wait for others.
export function isMaking(event: EventAnswer, kind: string): boolean {
  const {name, parents} = event;
  if (kind !== "python") return !isWaitingCall(event);
  return [name, ...parents.map((one) => one.name)].some((one) => kFetch.test(one));
}

export interface Wait {
  ref: Ref;
  step: number;
  length: number;
  within: number;  // of it, in the event
}

// The step that waited longest for what a worker did in this event; null: none is known.
export async function waitFor(run: RunView, event: EventAnswer): Promise<Wait|null> {
  const {info} = run;
  const own = info.tracks.find(({id}) => id === event.track);
  if (!own || !kKinds.includes(own.kind) || event.to - event.from < kLeastNs ||
    !isBeside(info, own.group) || !isMaking(event, own.kind))
    return null;
  const [steps] = info.steps;
  const phases = info.tracks.find(({kind, group}) => kind === "phases" && group === steps.group);
  if (!phases) return null;
  const step = 2 ** Math.max(0, Math.floor(Math.log2((event.to - event.from) / kSteps)));
  const {rows} = await run.source.view(
    {from: event.from, to: event.to, step, rows: [[phases.id, 0, phases.rows]]});
  const names = run.palettes.get("phase");
  let best: Wait|null = null;
  for (let row = 0; row < phases.rows; ++row) {
    const items = rows.get(rowKey(phases.id, row));
    for (let i = 0; items && i < items.count; ++i) {
      if (items.merged[i] > 1 || names?.get(items.name[i])?.key !== "data_loading") continue;
      const wait = await run.source.call<EventAnswer>("event", {ref: items.ref[i]});
      const within = Math.min(wait.to, event.to) - Math.max(wait.from, event.from);
      if (within < kEnoughOf * (wait.to - wait.from) || within <= (best?.within ?? kLeastNs))
        continue;
      const place = stepAt(steps, wait.from);
      if (place < 0) continue;
      best = {ref: wait.ref, step: steps.number[place], length: wait.to - wait.from, within};
    }
  }
  return best;
}
