// Keeps the address telling what is shown, and goes where an address points.
import type {App} from "./app";
import {stepAt, stepsFilling, typicalSteps} from "./data/steps";
import {heldStepsText, isPart, lackOfSteps} from "./state/held";
import type {Range} from "./state/model";
import {runLetter, whoseSteps} from "./state/places";
import type {UrlState} from "./state/url_state";
import {formatUrl} from "./state/url_state";
import {framed} from "./state/viewport";
import {moment} from "./draw/ruler";
import {kTouch} from "./touch";

const kSettleMs = 400;
const kSaidNs = 1e6;
const kPlaces = ["from", "step", "at", "find", "sel", "range"] as const;

// What is selected, as the address says it.
function selectionOf({sel}: UrlState): string {
  return sel ? `${sel.run ?? 0}:${sel.table}:${sel.row}` : "";
}

// The address has times; of whole steps the first process that has these is meant.
function rangeOf(model: App["model"], [from, to]: [number, number]): Range {
  for (const run of model.runs)
    for (const [process, steps] of run.info.steps.entries()) {
      const own = {from: Math.round(from - run.offset), to: Math.round(to - run.offset)};
      const named = stepsFilling(steps, own);
      if (named) return {from, to, steps: {...named, of: whoseSteps(model, run, steps), process}};
    }
  return {from, to};
}

export class Address {
  private timer = 0;
  private written = "";
  private selection = "";                 // of the history's present place
  private leaves = false;                 // that place stays in the history
  private settled = false;                // the first picture is chosen
  private waiting: UrlState|null = null;  // for what is not found yet
  private first: {said: string; from: number; to: number}|null = null;  // picture, chosen here

  constructor(private readonly app: App, state: UrlState) {
    this.go(state);
    app.model.listen((change) => {
      if (change === "run" && this.waiting && this.isComplete) {
        const waiting = this.waiting;
        this.waiting = null;
        this.go(waiting);
      }
      if (change === "view") this.moved();
      if (change === "selection") this.selected();
      if (change !== "hover" && change !== "data") this.later();
    });
  }

  private get isComplete(): boolean {
    return this.app.model.runs.every(({info}) => info.complete);
  }

  // From then on Back leads to the place that is shown now. Within another page it is that page's.
  leave(): void {
    this.leaves = this.settled && window.parent === window;
  }

  private selected(): void {
    const selection = selectionOf({sel: this.selectedEvent});
    if (selection !== "" && selection !== this.selection) this.leave();
  }

  private get selectedEvent(): UrlState["sel"] {
    const {selected} = this.app.model;
    return selected
      ? {table: selected.event.table, row: selected.event.row, run: selected.run.index}
      : undefined;
  }

  // To a place of the history, which says all that is shown.
  back(state: UrlState): void {
    const {app} = this;
    clearTimeout(this.timer);
    this.leaves = false;
    this.selection = selectionOf(state);
    if (state.from !== undefined) {
      if (!state.sel) app.actions.clear();
      if (!state.range && app.model.range) app.model.setRange(null);
      if (!state.mark && app.model.mark) app.model.setMark(null);
      if ((state.find ?? "") !== app.search.input.value) app.search.set(state.find ?? "");
    }
    this.go(state);
  }

  go(state: UrlState): void {
    const {app} = this;
    const {model} = app;
    const run = model.first;
    app.unwarn("place");
    app.say("");  // what the place before had to say is over
    if (state.hash && state.hash !== run.info.hash) {
      app.warn("This link was made for another recording; it shows nothing of this one.", "place");
      return;
    }
    if (!this.isComplete) {
      this.waiting = state;
      return;
    }
    const ofB = this.isOfB(state);
    if (ofB && state.align !== undefined) app.compare?.alignAt(state.align);
    for (const id of state.open ?? []) model.open.set(id < 0 ? -id - 1 : id, id >= 0);
    if (state.pin) model.setPins(state.pin);
    else if (state.open) model.changed("layout");
    if (state.from !== undefined && state.to !== undefined && state.to > state.from)
      app.motion.jump({from: state.from, to: state.to});
    const goesElsewhere = state.step !== undefined || state.at !== undefined;
    if (state.find || goesElsewhere) app.search.set(state.find ?? "");
    if (goesElsewhere) app.actions.clear();
    if (state.step !== undefined) this.goToStep(state.step);
    else if (state.at !== undefined) this.goTo(state.at);
    else if (state.find && state.from === undefined)
      void app.actions.find.called(state.find, state.table);
    if (state.mark) model.setMark({from: state.mark[0], to: state.mark[1]});
    if (state.range) model.setRange(rangeOf(model, state.range));
    if (state.sel && (ofB || !state.sel.run)) {
      const {table, row, run: index = 0} = state.sel;
      void app.actions.select(model.runs[index], {table, row}, state.from === undefined);
    }
    if (kPlaces.every((key) => state[key] === undefined)) this.goToTypicalSteps();
    if (!this.settled) model.settle();
    this.settled = true;
  }

  // Whether what it says of a second run is true of the one that is open.
  private isOfB({hashb, sel}: UrlState): boolean {
    const {app} = this;
    const b = app.model.runs[1];
    if (b && (!hashb || hashb === b.info.hash)) return true;
    if (hashb || sel?.run)
      app.warn(`This link was made for two recordings, of which the second is ${
                 b ? "another one" : "not open"}; it shows nothing of that.`,
        "place");
    return false;
  }

  // What is not told to go anywhere begins within the loop, not with start-up. A run that goes on
  // is followed, two runs are compared from their starts, and who has moved stays there.
  private goToTypicalSteps(): void {
    const {model, motion} = this.app;
    const {info} = model.first;
    const {from, to} = motion.goal;
    const moved = from !== model.whole.from || to !== model.whole.to;
    const at = typicalSteps(info, model.whole);
    if (!at || moved || info.growing || model.runs.length > 1) return;
    const steps = info.steps[0];
    motion.jump(framed({from: steps.from[at.first], to: steps.to[at.last]}, model.whole));
    const [first, last] = [steps.number[at.first], steps.number[at.last]];
    const said = `Steps ${first} to ${last}, as long as most. ${kTouch ? "All" : "0"} shows ${
      isPart(info) ? "all that this file has" : "the whole run"}.`;
    this.first = {said, from: model.view.from, to: model.view.to};
    this.app.say(said);
  }

  // What was said of the first picture is over when another is shown.
  private moved(): void {
    const {app, first} = this;
    const {from, to} = app.model.view;
    if (!first || (from === first.from && to === first.to)) return;
    this.first = null;
    if (app.status.textContent === first.said) app.say("");
  }

  goToStep(number: number): void {
    this.goToSteps(number, number);
  }

  goToSteps(first: number, last: number): void {
    const {app} = this;
    const {model} = app;
    const {info} = model.first;
    const lack = lackOfSteps(info, first, last, 0, runLetter(model, model.first));
    app.unwarn("place");
    if (lack) return app.warn(lack, "place");
    const {number, from, to} = info.steps[0];
    app.compare?.alignAt(first);
    app.motion.jump(
      framed({from: from[number.indexOf(first)], to: to[number.indexOf(last)]}, model.whole));
    app.range.showSteps(first, last);
  }

  // The surroundings of a moment: a step, or a hundredth of the run.
  private goTo(at: number): void {
    const {model, motion} = this.app;
    const {from, to} = model.whole;
    if (at < from || at > to) {
      const {info} = model.first;
      const between = `lie between ${moment(from, kSaidNs)} and ${moment(to, kSaidNs)}`;
      this.app.warn(isPart(info) ? `The events of this file, ${heldStepsText(info)}, ${between}.`
                                 : `The events of this recording ${between}.`,
        "place");
      return;
    }
    const steps = model.first.info.steps[0];
    const i = stepAt(steps, at);
    const length = i >= 0 ? steps.to[i] - steps.from[i] : (model.whole.to - model.whole.from) / 100;
    motion.jump({from: at - length / 2, to: at + length / 2});
    model.setMark({from: at, to: at});
  }

  // The place that is shown, as the address has it.
  get place(): string {
    this.write();
    return this.written;
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), kSettleMs);
  }

  private write(): void {
    if (this.waiting) return;  // what it asks for is not there yet
    const {model} = this.app;
    const {mark, range, view, whole} = model;
    // When the page of a run that goes on is loaded again, all of it is more, and tracks and rows
    // have other numbers.
    const settled = model.runs.every(({info}) => info.complete && !info.growing);
    const followed = !settled && view.from <= whole.from && view.to >= whole.to;
    const state: UrlState = {
      hash: model.first.info.hash,
      hashb: model.runs[1]?.info.hash,
      align: this.app.compare?.step,
      from: followed ? undefined : view.from,
      to: followed ? undefined : view.to,
      find: model.found?.text,
      sel: settled ? this.selectedEvent : undefined,
      range: range ? [range.from, range.to] : undefined,
      mark: mark ? [mark.from, mark.to] : undefined,
      pin: settled ? model.pinned : undefined,
      open: !settled ? undefined : [...model.open].map(([id, open]) => open ? id : -id - 1),
    };
    const place = formatUrl(state);
    const leaves = this.leaves && this.written !== "" && place !== this.written;
    this.leaves = false;
    this.written = place;
    this.selection = selectionOf(state);
    try {
      if (leaves) history.pushState(null, "", place);
      else history.replaceState(null, "", place);
    } catch {
      // a page within another may not change its address
    }
  }
}
