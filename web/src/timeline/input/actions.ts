// What keys, buttons and links do: find an event, select it and bring it into view.
import {count} from "../../format";
import {CallError} from "../data/source";
import type {EventAnswer, EventRef, Link, LinkedEvent, Ref} from "../data/protocol";
import {stepAt, stepsOf} from "../data/steps";
import {whoseSteps} from "../state/places";
import {trackId} from "../data/track";
import type {Model, Range, Reading, RunView} from "../state/model";
import type {Span} from "../state/viewport";
import {framed, lengthOf} from "../state/viewport";
import type {Stage} from "../stage/stage";
import {Finder} from "./finder";
import type {Motion} from "./motion";

const kLeastPx = 6;   // an event narrower than this is zoomed to
const kClosePx = 80;  // of one that a link or --find leads to
const kRoom = 6;      // how much of its length is shown around it then
const kMostLinks = 200;

// The links that the last one was one of: those of an event in one direction, of all that it has.
interface Followed {
  run: RunView;
  links: LinkedEvent[];
  at: number;
  forward: boolean;
  all: number;
}

type Which = {
  ref: Ref
}|{
  table: string;
  row: number
};

export class Actions {
  readonly find: Finder;
  private followed: Followed|null = null;
  private busy = 0;
  private asked = 0;  // and not answered

  constructor(private readonly model: Model, private readonly stage: Stage,
    private readonly motion: Motion, private readonly say: (text: string) => void,
    renew: () => Promise<void>) {
    this.find = new Finder(model, {
      last: (ask) => this.last(ask),
      renew,
      reach: (run, ref, close) => void this.reach(run, {ref}, true, close),
      say,
    });
  }

  // Runs one question to the source after the other's place is taken: the last one wins.
  private async last<T>(ask: () => Promise<T>): Promise<T|null> {
    const mine = ++this.busy;
    ++this.asked;
    try {
      const answer = await ask();
      return mine === this.busy ? answer : null;
    } catch (error) {
      // That nobody answers is said on top, as long as it is so.
      const gone = error instanceof CallError && error.code === "gone";
      if (mine === this.busy && !gone) this.say((error as Error).message);
      return null;
    } finally {
      --this.asked;
    }
  }

  // Whether another event may be selected in a moment, which a key asked for.
  get isAsking(): boolean {
    return this.asked > 0;
  }

  async select(run: RunView, which: Which, show = false): Promise<void> {
    this.find.forgetGaps();
    await this.reach(run, which, show);
  }

  private async reach(run: RunView, which: Which, show: boolean, close = false): Promise<void> {
    const event = await this.last(() => run.source.call<EventAnswer>("event", which));
    if (!event) return;
    this.model.selected = {run, event};
    this.model.reading = null;
    this.model.links = [];
    if (show) this.bringIntoView(run, event, close ? kClosePx : kLeastPx);
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

  // `reading`: what is shown instead of an event.
  clear(reading: Reading|null = null): void {
    const {model} = this;
    this.find.forget();
    model.selected = null;
    model.reading = reading;
    model.links = [];
    model.changed("selection");
  }

  go(run: RunView, ref: Ref): void {
    void this.select(run, {ref}, true);
  }

  showTrack(id: number, depth: number): void {
    const {model, stage} = this;
    if (model.reveal(id)) requestAnimationFrame(() => stage.scrollTo(id, depth));
  }

  private bringIntoView(
    run: RunView, {track, depth, from, to}: EventRef, leastPx = kLeastPx): void {
    const {model, motion} = this;
    const id = trackId(run.index, track ?? -1);
    this.showTrack(id, depth);
    const span = {from: from + run.offset, to: to + run.offset};
    const goal = motion.goal;
    const pixels = (lengthOf(span) / lengthOf(goal)) * model.view.width;
    if (pixels < leastPx || pixels > model.view.width) {
      motion.to(framed(span, model.whole, pixels > model.view.width ? 0.1 : kRoom));
    } else if (span.from < goal.from || span.to > goal.to) {
      const half = lengthOf(goal) / 2;
      const middle = (span.from + span.to) / 2;
      motion.to({from: middle - half, to: middle + half});
    }
  }

  private get run(): RunView {
    return this.model.selected?.run ?? this.model.first;
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
    if (hit) return void this.select(hit.run, {ref: hit.ref});
    const reading = this.stage.readingAt(x, y);
    this.clear(reading);
    if (reading) this.model.setMark({from: reading.time, to: reading.time});
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
    const {from, to} = model.view;
    const i = event ? steps?.number.indexOf(event.step?.number ?? -1) ?? -1
                    : stepAt(steps, (from + to) / 2 - run.offset);
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

function onlyLink(forward: boolean, others: number): string {
  const only = `It is the only link ${forward ? "forward" : "back"} from there`;
  if (others === 0) return `${only}.`;
  const lead = others === 1 ? "one leads" : `${count(others)} lead`;
  return `${only}; ${lead} ${forward ? "back ( [ )" : "forward ( ] )"}.`;
}
