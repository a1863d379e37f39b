// Keeps the address telling what is shown, and goes where an address points.
import type {App} from "./app";
import {stepAt} from "./data/steps";
import type {UrlState} from "./state/url_state";
import {formatUrl} from "./state/url_state";
import {framed} from "./state/viewport";

const kSettleMs = 400;

export class Address {
  private timer = 0;
  private waiting: UrlState|null = null;  // for what is not found yet

  constructor(private readonly app: App, state: UrlState) {
    this.go(state);
    app.model.listen((change) => {
      if (change === "run" && this.waiting && app.model.first.info.complete) {
        const waiting = this.waiting;
        this.waiting = null;
        this.go(waiting);
      }
      if (change !== "hover" && change !== "data") this.later();
    });
  }

  go(state: UrlState): void {
    const {app} = this;
    const {model} = app;
    const run = model.first;
    if (state.hash && state.hash !== run.info.hash) {
      app.warn("This link was made for another recording; it shows nothing of this one.");
      return;
    }
    if (!run.info.complete) {
      this.waiting = state;
      return;
    }
    for (const id of state.open ?? []) model.open.set(id < 0 ? -id - 1 : id, id >= 0);
    if (state.pin) model.setPins(state.pin);
    else if (state.open) model.changed("layout");
    if (state.from !== undefined && state.to !== undefined && state.to > state.from)
      model.show({from: state.from, to: state.to});
    if (state.find) app.search.set(state.find);
    if (state.step !== undefined) this.goToStep(state.step);
    else if (state.at !== undefined) this.goTo(state.at);
    else if (state.find && state.from === undefined)
      void app.actions.longest({text: state.find}, 0);
    if (state.range) model.setRange({from: state.range[0], to: state.range[1]});
    if (state.sel) void app.actions.select(run, state.sel, state.from === undefined);
  }

  private goToStep(number: number): void {
    const {app} = this;
    const {model} = app;
    const steps = model.first.info.steps[0];
    const i = steps?.number.indexOf(number) ?? -1;
    if (i < 0) {
      app.warn(`This recording has no step ${number}.`);
      return;
    }
    model.show(framed({from: steps.from[i], to: steps.to[i]}, model.whole));
    app.range.showSteps(number, number);
  }

  // The surroundings of a moment: a step, or a hundredth of the run.
  private goTo(at: number): void {
    const {model, actions} = this.app;
    const steps = model.first.info.steps[0];
    const i = stepAt(model.first.info, at);
    const length = i >= 0 ? steps.to[i] - steps.from[i] : (model.whole.to - model.whole.from) / 100;
    model.show({from: at - length / 2, to: at + length / 2});
    model.mark = {from: at, to: at};
    actions.clear();
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.write(), kSettleMs);
  }

  private write(): void {
    const {model} = this.app;
    const {selected, range} = model;
    const whole = model.view.from <= model.whole.from && model.view.to >= model.whole.to;
    const state: UrlState = {
      hash: model.first.info.hash,
      from: whole ? undefined : model.view.from,
      to: whole ? undefined : model.view.to,
      find: model.found?.text,
      sel: selected && selected.run === model.first
        ? {table: selected.event.table, row: selected.event.row}
        : undefined,
      range: range ? [range.from, range.to] : undefined,
      pin: model.pinned,
      open: [...model.open].map(([id, open]) => open ? id : -id - 1),
    };
    try {
      history.replaceState(null, "", formatUrl(state));
    } catch {
      // a page within another may not change its address
    }
  }
}
