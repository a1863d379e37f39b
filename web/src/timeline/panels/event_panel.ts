// All that is known of the selected event, with ways to the events that it belongs to.
import {h, longName} from "../../dom";
import {bytes, count, nthLongest, percent, plural, time} from "../../format";
import type {EventAnswer, EventField, Ref} from "../data/protocol";
import {isWaitForData, waitFor} from "../data/loader_workers";
import {startInStep, stepTitle} from "../data/steps";
import {moment} from "../draw/ruler";
import type {Meanwhile} from "./meanwhile";
import {meanwhileOf} from "./meanwhile";
import {didRows, sampledRows} from "./sampled_rows";
import {inFile, isPart} from "../state/held";
import type {Model, Reading, RunView} from "../state/model";
import {placeOf, readingText, runLetter} from "../state/places";
import {kTouch} from "../touch";

export interface EventActions {
  go(run: RunView, ref: Ref): void;
  longest(): void;
  next(direction: 1|- 1): void;
  toRange(): void;
  stepRange(): void;
}

// Where a link leads to, and where it comes from.
const kLinkWords: Record<string, [string, string]> = {
  launch: ["launches", "launched by"],
  backward: ["its backward", "backward of"],
  collective: ["the same collective", "the same collective"],
  owner: ["its work", "work of"],
};

// Gaps and their causes have the same names. What is counted of a name is of one table.
const kCounted: Record<string, string> = {
  gpu_idle: " gaps with this main cause",
  gpu_idle_causes: " stretches of this cause",
};

const kSamePart = 0.1;  // of a time, that needs no words of its own

export class EventPanel {
  readonly element = h("div", {class: "event-panel"});
  private offset = 0;                      // of the run, that is shown
  private lacks: EventAnswer|null = null;  // whose Meanwhile was not answered

  constructor(private readonly model: Model, private readonly actions: EventActions) {
    model.listen((change) => {
      const moved = (this.model.selected?.run.offset ?? 0) !== this.offset;
      // It may be another answer of the same, after the recording was read anew.
      const again = change === "hover" && this.lacks && this.model.selected?.event !== this.lacks;
      if (change === "selection" || again || (change === "layout" && moved)) this.draw();
    });
    this.draw();
  }

  private draw(): void {
    const {selected, reading} = this.model;
    this.lacks = null;
    this.offset = selected?.run.offset ?? 0;
    if (!selected && reading) {
      this.element.replaceChildren(this.valueOf(reading));
      return;
    }
    if (!selected) {
      this.element.replaceChildren(h("p", {class: "muted"},
        kTouch ? "Tap an event. Two fingers zoom, one moves. Longest and All stand at the top left."
               : "Click an event, or press an arrow key. W S zoom, A D move, ? lists all keys."));
      return;
    }
    const {run, event} = selected;
    const around = this.around(run, event);
    const facts = this.facts(run, event);
    this.element.replaceChildren(facts, around);
    void this.addMeanwhile(around, run, event);
    void this.addWait(facts, run, event);
  }

  // What else stands far above the gap, out of the window.
  private async addMeanwhile(box: HTMLElement, run: RunView, event: EventAnswer): Promise<void> {
    const found = await meanwhileOf(this.model, run, event).catch(() => null);
    if (!found) this.lacks = event;
    if (!found || found.length === 0) return;
    const items = found.map(
      (one) => h("li", {}, `${one.track}: `, ...this.inWords(run, one),
        `, ${percent(one.within, event.to - event.from)} of the ${stretchOf(run, event)}`));
    box.prepend(h("h3", {}, "Meanwhile"), h("ul", {class: "meanwhile"}, ...items));
  }

  // Of what a worker of the loader did, the step that waited for it.
  private async addWait(facts: HTMLElement, run: RunView, event: EventAnswer): Promise<void> {
    const wait = await waitFor(run, event).catch(() => null);
    if (!wait) return;
    facts.querySelector("dl")?.prepend(h("dt", {}, "waited for by"),
      h("dd", {}, this.linkTo(run, wait.ref, `step ${wait.step}`),
        `, ${time(wait.within)} of its ${time(wait.length)} of data loading`));
  }

  private inWords(run: RunView, one: Meanwhile): (HTMLElement|string)[] {
    const {within} = one;
    if ("event" in one) {
      const {ref, name, from, to} = one.event;
      const whole = within < to - from ? ` of its ${time(to - from)}` : "";
      const guessed = one.guessed ? ", by samples around the gap" : "";
      if (one.line !== undefined)
        return [`line ${one.line} of `, this.linkTo(run, ref, name), ` ${time(within)}${guessed}`];
      return [this.linkTo(run, ref, name), ` ${time(within)}${whole}${guessed}`];
    }
    if ("count" in one) {
      const {ref, name} = one.longest;
      const link = this.linkTo(run, ref, name);
      if (one.count === 1) return [link, ` ${time(within)}`];
      return [`${count(one.count)} events ${time(within)}, the longest of them `, link];
    }
    const {before, after, longest} = one;
    const most = within - longest > kSamePart * within ? `the longest ${time(longest)} of it ` : "";
    const begun = before ? ["after ", this.linkTo(run, before.ref, before.name), ", "] : [];
    return [
      `outside of all that was recorded for ${time(within)}, ${most}`, ...begun, "before ",
      this.linkTo(run, after.ref, after.name)
    ];
  }

  private linkTo(run: RunView, ref: Ref, name: string): HTMLElement {
    return h("button", {type: "button", class: "link", click: () => this.actions.go(run, ref)},
      longName(name || "(no name)"));
  }

  // By the run's clock, and by the axis where that is another's.
  private startText({offset}: RunView, from: number): string {
    if (offset === 0) return moment(from, 1);
    const {runs} = this.model;
    return `${moment(from, 1)} of ${runLetter({runs}, runs[1])}, ${
      moment(from + offset, 1)} on the axis`;
  }

  private valueOf(reading: Reading): HTMLElement {
    const {run, track} = reading;
    const [name, value] = readingText(this.model, reading);
    return h("div", {class: "facts"}, h("h2", {}, name),
      h("dl", {}, h("dt", {}, "value"), h("dd", {}, value), h("dt", {}, "where"),
        h("dd", {}, placeOf(this.model, run, {track: track.id}))));
  }

  private facts(run: RunView, event: EventAnswer): HTMLElement {
    const length = event.to - event.from;
    const rows: [string, string|HTMLElement][] = [
      [
        "duration",
        event.open ? `${time(length)}, still open when the recording ended` : time(length)
      ],
      ["start", this.startText(run, event.from)],
      ["where", placeOf(this.model, run, event)],
    ];
    if (event.step)
      rows.push(
        ["step", `${event.step.number}, ${startInStep(event.from, event.step.from, time)}`]);
    // The causes of a gap make it up, so that it has no time of its own.
    if (event.children && event.children.count > 0 && event.table !== "gpu_idle") {
      const {count: inside, self} = event.children;
      rows.push([
        "inside", `${plural(inside, "event")}, own time ${time(self)} (${percent(self, length)})`
      ]);
    }
    rows.push(...sampledRows(event), ...didRows(event));
    const same = event.same_name;
    if (same && same.count > 1) {
      rows.push([
        "of this name",
        `${nthLongest(same.rank)} of ${count(same.count)}${kCounted[event.table] ?? ""}${
          inFile(run.info)}, ${time(same.total)} together, mean ${time(same.lengths / same.count)}`
      ]);
    }
    const searched = this.searched(event);
    if (searched) rows.push(["searched", searched]);
    const list = rows.flatMap(([label, value]) => [h("dt", {}, label), h("dd", {}, value)]);
    for (const field of event.fields)
      list.push(h("dt", {title: field.help}, field.label), h("dd", {}, fieldText(field)));
    return h("div", {class: "facts"},
      h("h2", {}, longName(titleOf(run, event)), " ", h("small", {}, event.title)),
      this.buttons(event), h("dl", {}, ...list));
  }

  // Of a gap that was asked for as the longest: of which part of the run it is.
  private searched(event: EventAnswer): HTMLElement|null {
    const {searched} = this.model;
    if (!searched || searched.event.ref !== event.ref || searched.run !== this.model.selected?.run)
      return null;
    const {run, nth, steps, outside} = searched;
    const whole = isPart(run.info) ? "in this file" : "of the whole run";
    const part = steps ? `that begin in the ${count(steps)} steps that count${
                           isPart(run.info) ? ", as far as this file has them" : ""}`
                       : whole;
    const letter = runLetter(this.model, run);
    const words = `${nthLongest(nth + 1)} of ${count(searched.count)} ${
      event.table === "step_phases" ? "stretches of data loading or other"
                                    : "gaps"}${letter && ` of ${letter}`} ${part}`;
    const longest = (searched.others ?? []).flatMap((other) => {
      const {ref, from, to} = other.event;
      return [
        `; the longest of ${runLetter(this.model, other.run)}: `,
        this.linkTo(other.run, ref, time(to - from))
      ];
    });
    const others =
      (outside ?? [])
        .flatMap(({event: {ref, from, to}, where}, i) => [i > 0 ? ", " : "; longer: ",
                   this.linkTo(run, ref, time(to - from)), ` ${where} at ${moment(from, 1000)}`]);
    return h("span", {}, words, ...others, ...longest);
  }

  private buttons(event: EventAnswer): HTMLElement {
    const {actions} = this;
    const button = (label: string, click: () => void): HTMLElement =>
      h("button", {type: "button", class: "quiet", click}, label);
    const several = (event.same_name?.count ?? 0) > 1;
    return h("div", {class: "buttons"},
      several ? button("Longest of this name", () => actions.longest()) : null,
      several ? button("Previous", () => actions.next(-1)) : null,
      several ? button("Next", () => actions.next(1)) : null,
      button("Tables of this time", () => actions.toRange()),
      event.step ? button(`Tables of step ${event.step.number}`, () => actions.stepRange()) : null);
  }

  private around(run: RunView, event: EventAnswer): HTMLElement {
    const go = (ref: Ref, name: string): HTMLElement => this.linkTo(run, ref, name);
    const parents = [...event.parents].reverse().map((parent, i) => {
      const item = h("li", {}, go(parent.ref, parent.name), ` ${time(parent.to - parent.from)}`);
      item.style.paddingLeft = `${i * 12}px`;
      return item;
    });
    const links = event.links.map((link) => {
      const wait = link.from - event.from;
      const words = kLinkWords[link.kind]?.[link.forward ? 0 : 1] ?? link.kind;
      const when = wait >= 0 ? `${time(wait)} later` : `${time(-wait)} earlier`;
      return h(
        "li", {}, `${words}: `, go(link.ref, link.name), ` ${time(link.to - link.from)}, ${when}`);
    });
    return h("div", {class: "around"}, parents.length > 0 ? h("h3", {}, "Inside of") : null,
      parents.length > 0 ? h("ol", {class: "parents"}, ...parents) : null,
      links.length > 0 ? h("h3", {}, "Belongs to") : null,
      links.length > 0 ? h("ul", {}, ...links) : null);
  }
}

function stretchOf(run: RunView, event: EventAnswer): string {
  if (isWaitForData(run, event)) return "wait";
  return event.table === "step_phases" ? "phase" : "gap";
}

function titleOf(run: RunView, {ref, name, title}: EventAnswer): string {
  return stepTitle(run, ref, name) ?? (name || title);
}

function fieldText({text, value, unit}: EventField): string {
  if (value !== null && unit === "ns") return time(value);
  if (value !== null && unit === "bytes") return bytes(value);
  return text;
}
