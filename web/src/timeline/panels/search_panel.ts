// Search by name: what was found, where in the run it lies, and one step to each of it.
import {h, longName} from "../../dom";
import {count, percent, plural, time} from "../../format";
import type {FindAnswer, Match, Wanted} from "../data/protocol";
import {searchedStep} from "../data/steps";
import {heldStepsText, inFile, isPart, lackOfSteps} from "../state/held";
import type {Model} from "../state/model";

export interface SearchActions {
  next(wanted: Wanted, direction: 1|- 1): void;
  longest(wanted: Wanted, nth: number): void;
  leave(): void;
  show(): void;  // the panel
  step(number: number): void;
}

const kSettleMs = 120;
const kBins = 1024;

export class SearchPanel {
  readonly input: HTMLInputElement;
  readonly element = h("div", {class: "search-panel"});
  private timer = 0;
  private abort: AbortController|null = null;

  constructor(private readonly model: Model, private readonly actions: SearchActions) {
    this.input = h("input", {
      type: "search",
      class: "search",
      placeholder: "Search names  ( / )",
      "aria-label": "Search names of events",
      spellcheck: "false",
    });
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => void this.find(), kSettleMs);
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    // What a run that goes on has more.
    model.listen((change) => {
      if (change === "run" && this.input.value) void this.find(false);
    });
    this.draw(null);
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      this.set("");
      this.actions.leave();
    } else if (event.key === "Enter" && this.input.value) {
      event.preventDefault();
      const step = searchedStep(this.input.value);
      if (step !== undefined && this.model.first.info.steps.length > 0) this.actions.step(step);
      else this.actions.next({text: this.input.value}, event.shiftKey ? -1 : 1);
    }
  }

  set(text: string): void {
    this.input.value = text;
    void this.find();
  }

  private async find(show = true): Promise<void> {
    this.abort?.abort();
    const abort = this.abort = new AbortController();
    const text = this.input.value;
    const {model} = this;
    if (text === "") {
      model.found = null;
      model.changed("search");
      this.draw(null);
      return;
    }
    const {source, info} = model.first;
    try {
      const [answer, density] = await Promise.all([
        source.call<FindAnswer>("find", {text}, abort.signal),
        source.call<{bins: number[]; most: number}>("density", {
          text,
          from: String(info.from),
          to: String(Math.max(info.to, info.from + 1)),
          bins: kBins
        },
          abort.signal),
      ]);
      if (abort.signal.aborted) return;
      model.found = {text, events: answer.events, ...density};
      model.changed("search");
      this.draw(answer);
      if (show) this.actions.show();
    } catch (error) {
      if (!abort.signal.aborted)
        this.element.replaceChildren(h("p", {class: "bad"}, (error as Error).message));
    }
  }

  private draw(answer: FindAnswer|null): void {
    if (!answer) {
      this.element.replaceChildren(h("p", {class: "muted"},
        "Search part of a name: an operator, a module, a kernel, a range. Enter goes to the next event, Shift+Enter to the previous one."));
      return;
    }
    const step = searchedStep(this.input.value);
    const steps = step === undefined ? [] : [this.stepLine(step)];
    if (answer.matches.length === 0) {
      const none = h("p", {role: "status"}, this.noneText());
      this.element.replaceChildren(...(steps.length > 0 ? steps : [none]));
      return;
    }
    const head = ["Name", "Kind", "Events", "Time", "Share", "Longest"].map(
      (label, i) => h("th", {scope: "col", class: i < 2 ? "text" : "real"}, label));
    // Of several names some lie within others.
    const several = answer.matches.length > 1;
    const words =
      `${plural(answer.events, "event")}${inFile(this.model.first.info)}, ${time(answer.total)} ${
        several ? "as a sum over names (one may run within another)" : "together"}` +
      (answer.more ? `; the ${count(answer.matches.length)} names with most time` : "");
    this.element.replaceChildren(...steps, h("p", {role: "status"}, words),
      h("table", {}, h("thead", {}, h("tr", {}, ...head)),
        h("tbody", {}, ...answer.matches.map((match) => this.row(match, answer)))));
  }

  private noneText(): string {
    const {info} = this.model.first;
    if (!isPart(info)) return "No event has this in its name.";
    return `No event in this file has this in its name: it holds ${heldStepsText(info)}.`;
  }

  private stepLine(step: number): HTMLElement {
    const lack = lackOfSteps(this.model.first.info, step, step);
    if (lack) return h("p", {role: "status"}, lack);
    return h("p", {role: "status"}, "Enter goes to ",
      h("button", {type: "button", class: "link", click: () => this.actions.step(step)},
        `step ${step}`),
      ".");
  }

  private row(match: Match, answer: FindAnswer): HTMLElement {
    const button = (label: string|HTMLElement, name: string, click: () => void): HTMLElement =>
      h("button", {type: "button", class: "link", "aria-label": name, click}, label);
    const {name, table} = match;
    const kind = this.model.first.info.tables.find(({key}) => key === table)?.title ?? "";
    return h("tr", {},
      h("td", {class: "text"},
        button(
          longName(match.text), `Next ${match.text}`, () => this.actions.next({name, table}, 1))),
      h("td", {class: "text muted"}, kind), h("td", {}, count(match.count)),
      h("td", {}, time(match.total)), h("td", {}, percent(match.total, answer.total)),
      h("td", {},
        button(time(match.longest), `Longest ${match.text}`,
          () => this.actions.longest({name, table}, 0))));
  }
}
