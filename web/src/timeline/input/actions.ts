// What keys, buttons and links do: find an event, select it and bring it into view.
import {count, nthLongest} from "../../format";
import type {EventAnswer, EventRef, Link, LinkedEvent, LongestAnswer, Ref, Wanted} from "../data/protocol";
import {stepAt, stepsOf} from "../data/steps";
import {inFile} from "../state/held";
import {whoseSteps} from "../state/places";
import {trackId} from "../data/track";
import type {Model, Range, RunView} from "../state/model";
import type {Span} from "../state/viewport";
import {framed, lengthOf} from "../state/viewport";
import type {Stage} from "../stage/stage";
import type {Motion} from "./motion";

const kLeastPx = 6;  // an event narrower than this is zoomed to
const kRoom = 6;     // how much of its length is shown around it then
const kMostLinks = 200;
const kGpuKinds = ["idle", "stream"];
const kNoGpu = "This recording has no work on a GPU, and so none of its idle time.";

// The links that the last one was one of: those of an event in one direction, of all that it has.
interface Followed {
  run: RunView;
  links: LinkedEvent[];
  at: number;
  forward: boolean;
  all: number;
}

export class Actions {
  private nth = 0;  // of L pressed again
  private nthName: string|null = null;
  private gapAt = 0;  // of I pressed again, in one run
  private gapRun: RunView|null = null;
  private followed: Followed|null = null;
  private busy = 0;

  constructor(private readonly model: Model, private readonly stage: Stage,
    private readonly motion: Motion, private readonly say: (text: string) => void) {}

  // Runs one question to the source after the other's place is taken: the last one wins.
  private async last<T>(ask: () => Promise<T>): Promise<T|null> {
    const mine = ++this.busy;
    try {
      const answer = await ask();
      return mine === this.busy ? answer : null;
    } catch (error) {
      if (mine === this.busy) this.say((error as Error).message);
      return null;
    }
  }

  async select(run: RunView, which: {ref: Ref}|{
    table: string;
    row: number
  }, show = false): Promise<void> {
    const event = await this.last(() => run.source.call<EventAnswer>("event", which));
    if (!event) return;
    this.model.selected = {run, event};
    this.model.links = [];
    if (show) this.bringIntoView(run, event);
    this.model.changed("selection");
    await this.loadLinks(run, event);
  }

  private async loadLinks(run: RunView, event: EventAnswer): Promise<void> {
    if (event.links.length === 0) return;
    try {
      const {links} =
        await run.source.call<{links: Link[]}>("links", {refs: [event.ref], limit: kMostLinks});
      if (this.model.selected?.event !== event) return;
      this.model.links = links;
      this.model.changed("hover");
    } catch {
      // the panel lists them; only the arrows are missing
    }
  }

  // L and I begin with the longest again.
  private forgetPlaces(): void {
    this.gapRun = null;
    this.nthName = null;
  }

  clear(): void {
    const {model} = this;
    this.forgetPlaces();
    model.selected = null;
    model.links = [];
    model.changed("selection");
  }

  go(run: RunView, ref: Ref): void {
    void this.select(run, {ref}, true);
  }

  private bringIntoView(run: RunView, {track, depth, from, to}: EventRef): void {
    const {model, motion, stage} = this;
    const id = trackId(run.index, track ?? -1);
    const shown = model.reveal(id);
    if (shown) requestAnimationFrame(() => stage.scrollTo(id, depth));
    const span = {from: from + run.offset, to: to + run.offset};
    const goal = motion.goal;
    const pixels = (lengthOf(span) / lengthOf(goal)) * model.view.width;
    if (pixels < kLeastPx || pixels > model.view.width) {
      motion.to(framed(span, model.whole, pixels > model.view.width ? 0.1 : kRoom));
    } else if (span.from < goal.from || span.to > goal.to) {
      const half = lengthOf(goal) / 2;
      const middle = (span.from + span.to) / 2;
      motion.to({from: middle - half, to: middle + half});
    }
  }

  // Time of the run at which a search goes on.
  private at(run: RunView): number {
    const {selected, view} = this.model;
    if (selected?.run === run) return selected.event.from;
    return (view.from + view.to) / 2 - run.offset;
  }

  private get run(): RunView {
    return this.model.selected?.run ?? this.model.first;
  }

  async next(wanted: Wanted, direction: 1|- 1): Promise<void> {
    const {run} = this;
    const found = await this.last(() => run.source.call<{event: EventRef | null}>("next",
                                    {...wanted, at: String(Math.round(this.at(run))), direction}));
    if (!found) return;
    if (found.event) return this.go(run, found.event.ref);
    if (wanted.kind === "gap" && !this.hasGpu(run)) return this.say(kNoGpu);
    const what = wanted.kind === "gap" ? "No time in which a GPU had nothing to do" : "None";
    this.say(`${what} ${direction > 0 ? "after" : "before"} this${inFile(run.info)}.`);
  }

  // Of a text, where it is in a step that counts: what each step has takes longest in warm-up.
  async longestInSteps(text: string): Promise<void> {
    await this.longest({text, within: "steps"}, 0, {text});
  }

  // `otherwise`: what is asked for where there is none.
  async longest(wanted: Wanted, nth: number, otherwise: Wanted|null = null): Promise<void> {
    const {run} = this;
    const ask = (one: Wanted): Promise<LongestAnswer|null> =>
      this.last(() => run.source.call<LongestAnswer>("longest", {...one, nth}));
    let found = await ask(wanted);
    if (found && !found.event && otherwise) found = await ask(otherwise);
    if (!found) return;
    this.model.searched = null;
    if (!found.event) {
      this.forgetPlaces();
      return this.say(noneOf(run, wanted, found.count, this.hasGpu(run)));
    }
    if (found.steps !== undefined) this.model.searched = {run, nth, ...found, event: found.event};
    this.say(`${nthLongest(nth + 1)} of ${count(found.count)}`);
    this.go(run, found.event.ref);
  }

  private hasGpu({info}: RunView): boolean {
    return info.tracks.some(({kind}) => kGpuKinds.includes(kind));
  }

  nextSame(direction: 1|- 1): void {
    void this.withName((wanted) => this.next(wanted, direction));
  }

  longestSame(): void {
    void this.withName((wanted, name) => {
      this.nth = name === this.nthName ? this.nth + 1 : 0;
      this.nthName = name;
      return this.longest(wanted, this.nth);
    });
  }

  private async withName(then: (wanted: Wanted, name: string) => Promise<void>): Promise<void> {
    if (!this.model.selected) return this.say("Select an event first.");
    const {event} = this.model.selected;
    await then({name: event.name_id, table: event.table}, event.name);
  }

  nextGap(direction: 1|- 1): void {
    void this.next({kind: "gap"}, direction);
  }

  longestGap(): void {
    if (this.gapRun !== this.run) this.gapAt = 0;
    this.gapRun = this.run;
    void this.longest({kind: "gap", within: "steps"}, this.gapAt++);
  }

  // Along the links of the selected event: those of later events, or of earlier ones.
  follow(forward: boolean): void {
    const {selected} = this.model;
    if (!selected) return this.say("Select an event first.");
    const {run, event} = selected;
    const links = event.links.filter((link) => link.forward === forward);
    links.sort((a, b) => Math.abs(a.from - event.from) - Math.abs(b.from - event.from));
    if (links.length === 0)
      return this.say(forward ? "It leads to nothing." : "It comes from nothing.");
    this.followed = {run, links, at: 0, forward, all: event.links.length};
    this.goAlong();
  }

  // Instead of the link that was followed last the next one from the same event.
  followOther(): void {
    const {followed} = this;
    const {selected} = this.model;
    if (!followed || selected?.event.ref !== followed.links[followed.at].ref)
      return this.say("Follow a link first, with ] or [.");
    if (followed.links.length === 1) return this.say(onlyLink(followed.forward, followed.all - 1));
    followed.at = (followed.at + 1) % followed.links.length;
    this.goAlong();
  }

  private goAlong(): void {
    const {run, links, at} = this.followed!;
    if (links.length > 1) this.say(`link ${count(at + 1)} of ${count(links.length)}`);
    this.go(run, links[at].ref);
  }

  // To the event beside, around or inside of the selected one, as the rows show them.
  beside(direction: "left"|"right"|"up"|"down"): void {
    const {selected} = this.model;
    if (!selected) return this.selectMiddle();
    const {run, event} = selected;
    if (direction === "up" && event.parents.length > 0) return this.go(run, event.parents[0].ref);
    const lanes = this.stage.lanes;
    const id = trackId(run.index, event.track ?? -1);
    const at = lanes.findIndex((lane) => lane.block.track.id === id && lane.depth === event.depth);
    if (at < 0) return this.go(run, event.ref);  // brings it back into view
    const middle = (Math.max(event.from, this.model.view.from - run.offset) +
                     Math.min(event.to, this.model.view.to - run.offset)) /
      2;
    if (direction === "up" || direction === "down") {
      const step = direction === "up" ? -1 : 1;
      for (let i = at + step; i >= 0 && i < lanes.length; i += step)
        if (this.selectIn(i, middle + run.offset)) return;
      this.say(direction === "up" ? "No row above." : "No row below in the window.");
      return;
    }
    void this.neighbour(run, event, direction === "left" ? -1 : 1, at);
  }

  private async neighbour(
    run: RunView, event: EventAnswer, step: 1|- 1, laneIndex: number): Promise<void> {
    for (const {data} of this.stage.itemsOf(this.stage.lanes[laneIndex])) {
      const own = data.ref.indexOf(event.ref);
      const next = own >= 0 ? own + step : -1;
      if (next >= 0 && next < data.count) return this.select(run, {ref: data.ref[next]}, true);
    }
    this.say("No neighbour in what is loaded: move or zoom out.");
  }

  private selectIn(laneIndex: number, time: number): boolean {
    const {model, stage} = this;
    const hit = stage.hitIn(stage.lanes[laneIndex], time, lengthOf(model.view.span) / 2);
    if (!hit) return false;
    void this.select(hit.run, {ref: hit.ref}, true);
    return true;
  }

  private selectMiddle(): void {
    const {view} = this.model;
    for (let i = 0; i < this.stage.lanes.length; ++i)
      if (this.selectIn(i, (view.from + view.to) / 2)) return;
    this.say("No event in the window.");
  }

  selectAt(x: number, y: number): void {
    const hit = this.stage.hitAt(x, y);
    if (hit) void this.select(hit.run, {ref: hit.ref});
    else this.clear();
  }

  // The times that F, R and notes mean: the selected event, or nothing.
  get selectedSpan(): Span|null {
    const {selected} = this.model;
    if (!selected) return null;
    return {
      from: selected.event.from + selected.run.offset,
      to: selected.event.to + selected.run.offset
    };
  }

  frame(): void {
    const span = this.selectedSpan ?? this.model.range;
    if (span) this.motion.to(framed(span, this.model.whole));
  }

  toRange(): void {
    const span = this.selectedSpan;
    if (span) this.model.setRange(span);
    else this.say("Select an event first.");
  }

  // The step of the selected event, as its own process has it; else of the middle of the window.
  stepAt(): Range|null {
    const {model, run} = this;
    const {event} = model.selected ?? {};
    const track = event && run.info.tracks.find(({id}) => id === event.track);
    const steps = (track && stepsOf(run.info, track.group)) ?? run.info.steps[0];
    const i = stepAt(steps, this.at(run));
    if (i < 0) return null;
    return {
      from: steps.from[i] + run.offset,
      to: steps.to[i] + run.offset,
      steps: {
        first: steps.number[i],
        last: steps.number[i],
        of: whoseSteps(model, run, steps),
        process: run.info.steps.indexOf(steps)
      },
    };
  }
}

function noneOf({info}: RunView, {kind}: Wanted, known: number, hasGpu: boolean): string {
  if (kind === "gap" && !hasGpu) return kNoGpu;
  const what = (kind === "gap" ? "times in which a GPU had nothing to do" : "events of this name") +
    inFile(info);
  return known > 0 ? `There are only ${count(known)} ${what}.` : `There are no ${what}.`;
}

function onlyLink(forward: boolean, others: number): string {
  const only = `It is the only link ${forward ? "forward" : "back"} from there`;
  if (others === 0) return `${only}.`;
  const lead = others === 1 ? "one leads" : `${count(others)} lead`;
  return `${only}; ${lead} ${forward ? "back ( [ )" : "forward ( ] )"}.`;
}
