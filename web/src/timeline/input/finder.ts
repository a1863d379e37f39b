// Goes to the next, or the longest, event of a name or a kind. Of two runs it looks in that of the
// selected event, without one in both, and says of which run it found something.
import {count, nthLongest} from "../../format";
import type {EventRef, LongestAnswer, Ref, Wanted} from "../data/protocol";
import {TextAt} from "../data/protocol";
import {CallError} from "../data/source";
import {inFile} from "../state/held";
import type {Model, RunView} from "../state/model";
import {runLetter} from "../state/places";

// Phases in which a step does nothing that it is for, by key.
export const kStalls = ["data_loading", "other"];

const kGpuKinds = ["idle", "stream"];
const kGaps: Wanted = {
  kind: "gap",
  within: "steps"
};

// Of what a search is for, in this order: what is meant most first.
const kPlaces = [TextAt.whole, TextAt.begin, TextAt.within];
const kNow: Record<TextAt, string> = {
  [TextAt.whole]: "Now what is called just so.",
  [TextAt.begin]: "Now names that begin with it.",
  [TextAt.within]: "Now names that have it elsewhere.",
};

interface Found {
  run: RunView;
  answer: LongestAnswer;
}

interface Next {
  run: RunView;
  event: EventRef|null;
}

// Where a search stands: at an event, of which part of what it is for.
interface Walk {
  text: string;
  run: RunView;
  ref: Ref;
  place: number;  // of kPlaces
}

interface Walked extends Next {
  place: number;
  words: string;  // where it begins anew or goes on elsewhere
}

// The longest gaps of a run, one after the other; of which run is known with the first.
interface Gaps {
  run: RunView|null;
  nth: number;
}

export interface FinderActions {
  // Asks; null: something else was asked meanwhile, or there is no answer.
  last<T>(ask: () => Promise<T>): Promise<T|null>;
  renew(): Promise<void>;  // learns what the runs are now, after one was read anew
  // Selects it, and brings it into view; `close`: so that it is wide.
  reach(run: RunView, ref: Ref, close?: boolean): void;
  say(text: string): void;
}

export class Finder {
  private nth = 0;  // of L pressed again
  private nthName: string|null = null;
  private gaps: Gaps|null = null;    // of I pressed again
  private walked: Walk|null = null;  // of Enter pressed again in the search

  constructor(private readonly model: Pick<Model, "runs"|"selected"|"found"|"view"|"searched">,
    private readonly actions: FinderActions) {}

  // I begins with the longest again.
  forgetGaps(): void {
    this.gaps = null;
  }

  // L too.
  forget(): void {
    this.gaps = null;
    this.nthName = null;
  }

  // Time of the run after or before which a search goes on: without a selected event all that
  // begins in the window is found.
  at(run: RunView, direction: 1|- 1): number {
    const {selected, view} = this.model;
    const edge = direction > 0 ? view.from - 1 : view.to + 1;
    return Math.round((selected ? selected.event.from + selected.run.offset : edge) - run.offset);
  }

  // Those that a search is for. Of a text that is only in others, these.
  private runsFor({text}: Wanted): RunView[] {
    const {runs, selected, found} = this.model;
    if (!selected) return runs;
    if (!text || found?.text !== text) return [selected.run];
    const having = found.density.filter(({events}) => events > 0).map(({run}) => run);
    return having.length === 0 || having.includes(selected.run) ? [selected.run] : having;
  }

  // The first after a time of each run; of several runs the nearest on the axis comes first.
  private async nearest(wanted: Wanted, direction: 1|- 1, runs: readonly RunView[],
    at: (run: RunView) => number): Promise<Next[]> {
    const found = await Promise.all(runs.map(async(run): Promise<Next> => {
      const {event} = await run.source.call<{event: EventRef | null}>(
        "next", {...wanted, at: String(at(run)), direction});
      return {run, event};
    }));
    const near = ({run, event}: Next): number =>
      event ? direction * (event.from + run.offset) : Number.MAX_VALUE;
    return found.sort((a, b) => near(a) - near(b));
  }

  // `round`: after the last one comes the first again.
  async next(
    wanted: Wanted, direction: 1|- 1, runs = this.runsFor(wanted), round = false): Promise<void> {
    const {actions} = this;
    let again = false;
    const found = await actions.last(async () => {
      const next = await this.nearest(wanted, direction, runs, (run) => this.at(run, direction));
      if (next[0].event || !round) return next;
      again = true;
      const end = ({info}: RunView): number => direction > 0 ? info.from - 1 : info.to + 1;
      return await this.nearest(wanted, direction, runs, end);
    });
    if (!found) return;
    const [{run, event}] = found;
    this.forgetGaps();
    if (event && again)
      actions.say(`None ${direction > 0 ? "after" : "before"} this: ${
        direction > 0 ? "the first" : "the last"} again.`);
    if (event) return actions.reach(run, event.ref);
    if (wanted.kind === "gap" && !runs.some(hasGpu)) return actions.say(this.noGpu(runs));
    const what = wanted.kind === "gap" ? "No time in which a GPU had nothing to do" : "None";
    const where = inFile(run.info) + this.of(runs);
    actions.say(`${what} ${direction > 0 ? "after" : "before"} this${where}.`);
  }

  // What is called just as the text comes first, then what begins with it, then what has it
  // elsewhere; each by time, and after the last one the first again.
  async walk(text: string, direction: 1|- 1): Promise<void> {
    const {actions} = this;
    const runs = this.runsFor({text});
    const found = await actions.last(() => this.walkOn(text, direction, runs));
    if (found === null) return;
    this.forgetGaps();
    if (!found.event)
      return actions.say(
        `None ${direction > 0 ? "after" : "before"} this${inFile(runs[0].info) + this.of(runs)}.`);
    const {run, event, place, words} = found;
    this.walked = {text, run, ref: event.ref, place};
    if (words) actions.say(words);
    actions.reach(run, event.ref);
  }

  private async walkOn(text: string, direction: 1|- 1, runs: readonly RunView[]): Promise<Walked> {
    const {walked, model: {selected}} = this;
    const isOn = walked !== null && walked.text === text && walked.run === selected?.run &&
      walked.ref === selected.event.ref;
    const edge = ({info}: RunView): number => direction > 0 ? info.from - 1 : info.to + 1;
    const here = (run: RunView): number => this.at(run, direction);
    const again = `None ${direction > 0 ? "after" : "before"} this: ${
      direction > 0 ? "the first" : "the last"} again.`;
    const count = kPlaces.length;
    const first = isOn ? walked.place : 0;
    // All of a place before the next one, also when it begins in the middle of the run.
    const places =
      isOn ? [0, 1, 2, 3].map((i) => (first + direction * i + count) % count) : [0, 0, 1, 1, 2, 2];
    for (const [i, place] of places.entries()) {
      const isHere = isOn ? i === 0 : i % 2 === 0;
      const wanted = {text, text_at: kPlaces[place]};
      const [next] = await this.nearest(wanted, direction, runs, isHere ? here : edge);
      if (!next.event) continue;
      const turned = isOn ? direction * (place - first) <= 0 : true;
      const words = isHere ? "" : turned ? again : kNow[kPlaces[place]];
      return {...next, place, words};
    }
    return {run: runs[0], event: null, place: 0, words: ""};
  }

  nextSame(direction: 1|- 1): void {
    const {selected} = this.model;
    if (!selected) return this.actions.say("Select an event first.");
    const {run, event: {name_id: name, table}} = selected;
    void this.next({name, table}, direction, [run]);
  }

  longestSame(): void {
    const {selected} = this.model;
    if (!selected) return this.actions.say("Select an event first.");
    const {run, event: {name, name_id: id, table}} = selected;
    const called = `${run.index} ${name}`;
    this.nth = called === this.nthName ? this.nth + 1 : 0;
    this.nthName = called;
    void this.longest({name: id, table}, this.nth, [run]);
  }

  // `inSteps`: where it is in a step that counts, as what each step has takes longest in warm-up.
  private async ask(run: RunView, wanted: Wanted, nth: number, inSteps = false): Promise<Found> {
    const call = (one: Wanted): Promise<LongestAnswer> =>
      run.source.call<LongestAnswer>("longest", {...one, nth});
    let answer = await call(inSteps ? {...wanted, within: "steps"} : wanted);
    if (inSteps && !answer.event) answer = await call(wanted);
    return {run, answer};
  }

  // What is called so, and is of this table where it has such events.
  async called(text: string, table?: string): Promise<void> {
    const wanted: Wanted = {text, called: 1};
    const runs = this.runsFor({text});
    if (table) {
      const found = await this.askAll(runs, {...wanted, table}, 0, true);
      if (!found) return;
      if (found[0].answer.event) return this.show(found[0], 0, [], true);
    }
    await this.longest(wanted, 0, runs, true);
  }

  private askAll(
    runs: readonly RunView[], wanted: Wanted, nth: number, inSteps = false): Promise<Found[]|null> {
    return this.actions.last(async () => {
      const found = await Promise.all(runs.map((run) => this.ask(run, wanted, nth, inSteps)));
      return found.sort((a, b) => lengthIn(b) - lengthIn(a));
    });
  }

  // Of several runs the longest of all.
  async longest(
    wanted: Wanted, nth: number, runs = this.runsFor(wanted), inSteps = false): Promise<void> {
    this.forgetGaps();
    const found = await this.askAll(runs, wanted, nth, inSteps);
    if (!found) return;
    this.model.searched = null;
    if (!found[0].answer.event) this.sayNone(runs, wanted, found);
    else this.show(found[0], nth, [], wanted.called === 1);
  }

  // Of a run without a GPU: the nth longest phase in which a step loads data, or does what is in no
  // phase of its own; in the steps that count, where there are any.
  private async nthStall(run: RunView, nth: number): Promise<Found> {
    const names =
      [...run.palettes.get("phase")?.values() ?? []].filter(({key}) => kStalls.includes(key));
    const ask = (name: number, place: number, within?: "steps"): Promise<LongestAnswer> => {
      const wanted: Wanted = {name, table: "step_phases"};
      if (within) wanted.within = within;
      return run.source.call<LongestAnswer>("longest", {...wanted, nth: place});
    };
    const first = (within?: "steps"): Promise<LongestAnswer[]> =>
      Promise.all(names.map(({name}) => ask(name, 0, within)));
    let within: "steps"|undefined = "steps";
    let heads = await first(within);
    if (heads.every(({event}) => !event)) heads = await first(within = undefined);
    const count = heads.reduce((sum, one) => sum + one.count, 0);
    const steps = within ? run.info.steps[0]?.steady.length : 0;
    const places = names.map(() => 0);
    const length = ({event}: LongestAnswer): number => event ? event.to - event.from : -1;
    for (let left = nth;; --left) {
      const most = heads.reduce((best, one, i) => length(one) > length(heads[best]) ? i : best, 0);
      const event = heads[most]?.event ?? null;
      if (left === 0 || !event) return {run, answer: {event, count, steps, outside: []}};
      heads[most] = await ask(names[most].name, ++places[most], within);
    }
  }

  private askGaps(runs: readonly RunView[], nth: number): Promise<Found[]|null> {
    const hasGpus = runs.some(hasGpu);
    const ask = (run: RunView): Promise<Found> =>
      hasGpus ? this.ask(run, kGaps, nth, false) : this.nthStall(run, nth);
    return this.actions.last(async () => {
      const found = await this.inReadingOfNow(() => Promise.all(runs.map(ask)));
      return found.sort((a, b) => lengthIn(b) - lengthIn(a));
    });
  }

  // `ask` names nothing by a number of the reading that is shown: of a later one it asks the same.
  private async inReadingOfNow<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof CallError) || error.code !== "generation") throw error;
      await this.actions.renew();
      return ask();
    }
  }

  // After the last gap the longest again.
  async longestGap(): Promise<void> {
    const {model} = this;
    const gaps = this.gaps ??= {run: model.selected?.run ?? null, nth: -1};
    let nth = ++gaps.nth;
    const runs = gaps.run ? [gaps.run] : model.runs;
    let found = await this.askGaps(runs, gaps.run ? nth : 0);
    // What nobody was shown is still to come.
    if (!found && gaps.nth === nth) gaps.nth = nth - 1;
    if (!found || this.gaps !== gaps) return;
    const {run} = found[0];
    const others = found.slice(1);
    if (!gaps.run && nth > 0) found = await this.askGaps([run], nth);
    if (found && nth > 0 && !found[0].answer.event) {
      nth = gaps.nth = 0;
      found = await this.askGaps([run], nth);
    }
    if (!found || this.gaps !== gaps) return;
    model.searched = null;
    if (!found[0].answer.event) return this.sayNone(runs, kGaps, found);
    gaps.run = run;
    this.show(found[0], nth, others);
  }

  private show(
    {run, answer}: Found, nth: number, others: readonly Found[] = [], close = false): void {
    const {event, steps} = answer;
    if (!event) return;
    const longest =
      others.flatMap((one) => one.answer.event ? [{run: one.run, event: one.answer.event}] : []);
    if (steps !== undefined) this.model.searched = {...answer, run, nth, event, others: longest};
    this.actions.say(`${nthLongest(nth + 1)} of ${count(answer.count)}${this.of([run])}`);
    this.actions.reach(run, event.ref, close);
  }

  // " of B" of two runs.
  private of(runs: readonly RunView[]): string {
    const {model} = this;
    return runs.length < model.runs.length ? ` of ${runLetter(model, runs[0])}` : "";
  }

  private noGpu(runs: readonly RunView[]): string {
    const one = runLetter(this.model, runs[0]) || "This recording";
    const has = runs.length > 1 ? "These recordings have" : `${one} has`;
    return `${has} no work on a GPU, and so none of its idle time.`;
  }

  private sayNone(runs: readonly RunView[], {kind}: Wanted, found: readonly Found[]): void {
    this.forget();
    if (kind === "gap" && !runs.some(hasGpu)) return this.actions.say(this.noGpu(runs));
    const known = found.reduce((sum, {answer}) => sum + answer.count, 0);
    const [one, several, of] = kind === "gap"
      ? ["time", "times", "in which a GPU had nothing to do"]
      : ["event", "events", "of this name"];
    const what = ` ${of}${inFile(runs[0].info)}${this.of(runs)}.`;
    if (known === 0) this.actions.say(`There are no ${several}${what}`);
    else if (known === 1) this.actions.say(`There is only one ${one}${what}`);
    else this.actions.say(`There are only ${count(known)} ${several}${what}`);
  }
}

function lengthIn({answer: {event}}: Found): number {
  return event ? event.to - event.from : -1;
}

function hasGpu({info}: RunView): boolean {
  return info.tracks.some(({kind}) => kGpuKinds.includes(kind));
}
