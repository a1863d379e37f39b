// Search by name: what was found, where in the run it lies, and one step to each of it.
import {h, longName} from "../../dom";
import {count, percent, plural, time} from "../../format";
import type {FindAnswer, Match, Wanted} from "../data/protocol";
import {placeOfText} from "../data/page_search";
import {searchedStep} from "../data/steps";
import type {Track} from "../data/track";
import {heldStepsText, inFile, isPart, lackOfSteps} from "../state/held";
import type {Density, Model, RunView} from "../state/model";
import {placeOf, runLetter} from "../state/places";
import {kTouch} from "../touch";

export interface SearchActions {
  walk(text: string, direction: 1|- 1): void;
  next(wanted: Wanted, direction: 1|- 1, run: RunView): void;
  longest(wanted: Wanted, run: RunView): void;
  leave(): void;
  show(): void;   // the panel
  typed(): void;  // something else than before
  step(number: number): void;
  lane(id: number): void;  // of a counter
}

const kSettleMs = 120;
const kBins = 1024;
const kMostLanes = 20;
const kMostNames = 1000;  // that keep their colour by number, as what is shown of them may be cut
const kShownNames = 100;

// What was found in a run.
interface RunFound {
  run: RunView;
  answer: FindAnswer;
}

interface Row {
  found: RunFound;
  match: Match;
}

export class SearchPanel {
  readonly input: HTMLInputElement;
  readonly element = h("div", {class: "search-panel"});
  private timer = 0;
  private abort: AbortController|null = null;

  constructor(private readonly model: Model, private readonly actions: SearchActions) {
    this.input = h("input", {
      type: "search",
      class: "search",
      placeholder: kTouch ? "Search names" : "Search names  ( / )",
      "aria-label": "Search names of events",
      spellcheck: "false",
    });
    this.input.addEventListener("input", () => {
      this.actions.typed();
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
      else if (this.model.found?.events === 0 && this.lanes().length > 0)
        this.actions.lane(this.lanes()[0].id);
      else this.actions.walk(this.input.value, event.shiftKey ? -1 : 1);
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
    try {
      const found =
        await Promise.all(model.runs.map((run) => this.findIn(run, text, abort.signal)));
      if (abort.signal.aborted) return;
      const density = found.map((one) => one.density);
      model.found = {
        text,
        events: density.reduce((sum, {events}) => sum + events, 0),
        density,
        most: Math.max(...found.map(({most}) => most)),
        names: new Map(found.map(({run, names}) => [run, names])),
      };
      model.changed("search");
      this.draw(found);
      if (show) this.actions.show();
    } catch (error) {
      if (!abort.signal.aborted)
        this.element.replaceChildren(h("p", {class: "bad"}, (error as Error).message));
    }
  }

  private async findIn(run: RunView, text: string, signal: AbortSignal): Promise < RunFound&{
    density: Density;
    most: number;
    names: Set<number>
  }
  > {
    const {source, info} = run;
    const [from, to] = [info.from, Math.max(info.to, info.from + 1)];
    const [found, {bins, most}] = await Promise.all([
      source.call<FindAnswer>("find", {text, limit: kMostNames}, signal),
      source.call<{bins: number[]; most: number}>(
        "density", {text, from: String(from), to: String(to), bins: kBins}, signal),
    ]);
    const matches = found.matches.slice(0, kShownNames);
    const answer = {...found, matches, more: found.more || found.matches.length > kShownNames};
    const names = new Set(found.matches.map(({name}) => name));
    return {run, answer, density: {run, events: answer.events, bins, from, to}, most, names};
  }

  private draw(found: RunFound[]|null): void {
    if (!found) {
      this.element.replaceChildren(h("p", {class: "muted"},
        `Search part of a name: an operator, a module, a kernel, a range. Enter goes to the next event, of what is called just so first${
          kTouch ? "" : ", Shift+Enter to the previous one"}.`));
      return;
    }
    const step = searchedStep(this.input.value);
    const steps = step === undefined ? [] : [this.stepLine(step)];
    const lanes = this.lanes();
    if (lanes.length > 0) steps.push(this.laneLine(lanes));
    if (found.every(({answer}) => answer.matches.length === 0)) {
      const none = h("p", {role: "status"}, this.noneText(found));
      this.element.replaceChildren(...(steps.length > 0 ? steps : [none]));
      return;
    }
    const two = found.length > 1;
    const labels = ["Name", "Kind", "Events", "Time", "Share", "Longest"];
    const head =
      (two ? ["Run", ...labels] : labels)
        .map((label) => h("th",
               {scope: "col", class: ["Run", "Name", "Kind"].includes(label) ? "text" : "real"},
               label));
    const words = found.map((one) => this.wordsOf(one)).join(". ") +
      (two ? ". The strip on top shows where those of both are." : "");
    this.element.replaceChildren(...steps, h("p", {role: "status"}, words),
      h("table", {}, h("thead", {}, h("tr", {}, ...head)),
        h("tbody", {}, ...rowsOf(found, this.input.value).map((row) => this.row(row)))));
  }

  private wordsOf({run, answer}: RunFound): string {
    const letter = runLetter(this.model, run);
    const whose = letter && `${letter}: `;
    if (answer.matches.length === 0) return `${whose}none`;
    // Of several names some lie within others.
    const several = answer.matches.length > 1;
    return `${whose}${plural(answer.events, "event")}${inFile(run.info)}, ${time(answer.total)} ${
             several ? "as a sum over names (one may run within another)" : "together"}` +
      (answer.more ? `; the first ${count(answer.matches.length)} names` : "");
  }

  // With names that look like it, as the terminal has them.
  private noneText(found: readonly RunFound[]): string {
    const {runs, first: {info}} = this.model;
    const near = found.map(({run, answer: {near = ""}}) => runs.length > 1 && near
        ? near.replace("; ", `; of ${runLetter(this.model, run)} `)
        : near);
    const words = runs.length > 1 ? "No event of either run has this in its name"
      : isPart(info) ? `No event in this file has this in its name: it holds ${heldStepsText(info)}`
                     : "No event has this in its name";
    const text = words + near.join("");
    return text.endsWith("?") ? text : `${text}.`;
  }

  // Tracks of counters, which have no events.
  private lanes(): Track[] {
    const text = this.input.value.toLowerCase();
    return this.model.tracks.filter(({info}) => info?.counter &&
        [info.title, ...info.series ?? []].some((name) => name.toLowerCase().includes(text)));
  }

  private laneLine(lanes: Track[]): HTMLElement {
    const {model} = this;
    const links =
      lanes.slice(0, kMostLanes)
        .flatMap(
          (lane, i) => [i > 0 ? "; " : "",
            h("button", {type: "button", class: "link", click: () => this.actions.lane(lane.id)},
              placeOf(model, model.runOf(lane), {track: lane.info!.id}))]);
    const more = lanes.length > kMostLanes ? ` and ${count(lanes.length - kMostLanes)} more` : "";
    return h("p", {role: "status"}, "Values over time: ", ...links, `${more}.`);
  }

  private stepLine(step: number): HTMLElement {
    const {model} = this;
    const lack = lackOfSteps(model.first.info, step, step, 0, runLetter(model, model.first));
    if (lack) return h("p", {role: "status"}, lack);
    return h("p", {role: "status"}, "Enter goes to ",
      h("button", {type: "button", class: "link", click: () => this.actions.step(step)},
        `step ${step}`),
      ".");
  }

  private row({found: {run, answer}, match}: Row): HTMLElement {
    const letter = runLetter(this.model, run);
    const of = letter && ` of ${letter}`;
    const button = (label: string|HTMLElement, name: string, click: () => void): HTMLElement =>
      h("button", {type: "button", class: "link", "aria-label": name, click}, label);
    const {name, table} = match;
    const kind = run.info.tables.find(({key}) => key === table)?.title ?? "";
    return h("tr", {}, letter ? h("td", {class: "text"}, h("b", {class: "run"}, letter)) : null,
      h("td", {class: "text"},
        button(longName(match.text), `Next ${match.text}${of}`,
          () => this.actions.next({name, table}, 1, run))),
      h("td", {class: "text muted"}, kind), h("td", {}, count(match.count)),
      h("td", {}, time(match.total)), h("td", {}, percent(match.total, answer.total)),
      h("td", {},
        button(time(match.longest), `Longest ${match.text}${of}`,
          () => this.actions.longest({name, table}, run))));
  }
}

// As each run has them, what is called just so first; what both runs have stands together.
export function rowsOf(found: readonly RunFound[], text: string): Row[] {
  const rows = found.flatMap((one) => one.answer.matches.map((match) => ({found: one, match})));
  if (found.length < 2) return rows;
  const keyOf = ({match: {text, table}}: Row): string => `${table} ${text}`;
  const most = new Map<string, number>();
  for (const row of rows)
    most.set(keyOf(row), Math.max(most.get(keyOf(row)) ?? 0, row.match.total));
  const place = ({match}: Row): number => placeOfText(match.text, text);
  const longest = (row: Row): number => most.get(keyOf(row))!;
  return rows.sort((a, b) => place(a) - place(b) || longest(b) - longest(a) ||
      keyOf(a).localeCompare(keyOf(b)) || a.found.run.index - b.found.run.index);
}
