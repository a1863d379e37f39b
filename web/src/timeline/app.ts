// Puts the timeline together: the drawing, the panels, keys and pointer, the address.
import {h, longText, prose} from "../dom";
import {time} from "../format";
import {themeButton} from "../theme";
import {footnotes, lossBanner} from "../views/header_view";
import {tracksOfAll, wholeOfAll} from "./data/open_run";
import {stepTitle} from "./data/steps";
import type {Listeners} from "./data/open_run";
import type {Connection} from "./data/connection";
import type {StepsInfo} from "./data/protocol";
import {whyGone} from "./data/connection";
import {CallError} from "./data/source";
import {Actions} from "./input/actions";
import {Motion} from "./input/motion";
import {Pointer} from "./input/pointer";
import {Keyboard} from "./input/keyboard";
import {Live} from "./live";
import type {Matches} from "./draw/fills";
import {Address} from "./address";
import {ComparePanel} from "./panels/compare_panel";
import {Dock} from "./panels/dock";
import type {DockPanel} from "./panels/dock";
import {EventPanel} from "./panels/event_panel";
import {EventsPanel} from "./panels/events_panel";
import {HelpDialog} from "./panels/help_dialog";
import {LinkMenu} from "./panels/link_menu";
import {NotesPanel} from "./panels/notes_panel";
import type {Noted} from "./panels/notes_panel";
import {RangePanel} from "./panels/range_panel";
import {SearchPanel} from "./panels/search_panel";
import {Stage} from "./stage/stage";
import {StepStrip} from "./stage/step_strip";
import {Tooltip} from "./stage/tooltip";
import {isPart} from "./state/held";
import type {RunView} from "./state/model";
import {headOf, lossesOf, placeOf, readingText, whoseSteps} from "./state/places";
import type {Span} from "./state/viewport";
import {framed, lengthOf} from "./state/viewport";
import {Model} from "./state/model";
import type {UrlState} from "./state/url_state";

const kLeastShown = 0.02;  // of the window: a shorter range that was typed is zoomed to

// Two runs of one program are told apart by their files.
function titleOf({info: {title, source}}: RunView, withFile: boolean): string {
  const file = source.split("/").pop() ?? source;
  return withFile && title && title !== source ? `${file} (${title})` : title || source;
}

export class App {
  readonly model: Model;
  readonly stage: Stage;
  readonly motion: Motion;
  readonly actions: Actions;
  readonly help = new HelpDialog();
  readonly search: SearchPanel;
  readonly range: RangePanel;
  readonly notes: NotesPanel;
  readonly dock: Dock;
  readonly pointer: Pointer;
  readonly address: Address;
  compare: ComparePanel|null = null;  // of two runs
  readonly status = h("div", {class: "status", role: "status", "aria-live": "polite"});
  private readonly banner = h("div", {class: "banners"});
  private readonly warnings = new Map<string, HTMLElement>();  // by kind
  // The first picture comes before what takes longer to find.
  private readonly working =
    h("span", {class: "muted working", role: "status"}, "finding steps, phases and gaps …");
  private readonly span = h("span", {class: "muted span"});
  private readonly live: Live;
  private readonly embedded = document.documentElement.classList.contains("embedded");

  constructor(runs: RunView[], private readonly connection: Connection, state: UrlState) {
    const model = this.model = new Model(runs, tracksOfAll(runs), wholeOfAll(runs));
    model.pinSteps();
    this.stage = new Stage(model);
    this.motion = new Motion(model);
    this.actions = new Actions(
      model, this.stage, this.motion, (text) => this.say(text), () => this.live.renew());
    this.search = new SearchPanel(model, {
      walk: (text, direction) => void this.actions.find.walk(text, direction),
      next: (wanted, direction, run) => void this.actions.find.next(wanted, direction, [run], true),
      longest: (wanted, run) => void this.actions.find.longest(wanted, 0, [run]),
      leave: () => this.stage.region.focus(),
      show: () => this.dock.show("search"),
      // What the search before had to say is over.
      typed: () => {
        this.unwarn("place");
        this.say("");
      },
      step: (number) => {
        this.address.leave();
        this.address.goToStep(number);
      },
      lane: (id) => this.actions.showTrack(id, 0),
    });
    this.range = new RangePanel(model, (span) => {
      this.address.leave();
      const {from, to} = this.motion.goal;
      const small = lengthOf(span) < kLeastShown * (to - from);
      if (small || span.from < from || span.to > to) this.motion.to(framed(span, model.whole));
    });
    const goTo = (span: Span): void => this.motion.to({from: span.from - 1e6, to: span.to + 1e6});
    this.notes = new NotesPanel(model, goTo, () => this.stage.region.focus());
    this.dock = new Dock(this.panels());
    const tooltip = new Tooltip(model);
    this.pointer = new Pointer(model, this.stage, this.motion, {
      select: (x, y) => this.actions.selectAt(x, y),
      frame: () => this.actions.frame(),
      hover: (x, y, event) => tooltip.show(
        () => this.stage.hitAt(x, y), event, event ? this.stage.readingAt(x, y) : null),
    });
    new Keyboard(this);
    this.build(tooltip.element);
    this.listen();
    this.live = new Live(model, this.motion, connection, (text, kind) => this.warn(text, kind),
      () => this.drawHead(), (run, stamp) => void this.notes.follow(run, stamp));
    connection.listen((reach) => {
      if (reach === "there") this.unwarn("gone");
      else this.warn(whyGone(reach, location.host, true), "gone");
    });
    this.address = new Address(this, state);
    if (runs.length > 1) this.dock.show("compare");
  }

  private panels(): DockPanel[] {
    const {model, actions} = this;
    const event = new EventPanel(model, {
      go: (run, ref) => actions.go(run, ref),
      longest: () => actions.find.longestSame(),
      next: (direction) => actions.find.nextSame(direction),
      toRange: () => actions.toRange(),
      stepRange: () => this.stepRange(),
    });
    const events = new EventsPanel(
      model, this.stage, (run, ref) => actions.go(run, ref), () => this.dock.shown === "events");
    const panels: DockPanel[] = [
      {id: "event", label: "Event", element: event.element},
      {id: "range", label: "Range", element: this.range.element},
      {id: "search", label: "Search", element: this.search.element},
      {id: "notes", label: "Notes", element: this.notes.element},
      {
        id: "events",
        label: "Visible events",
        element: events.element,
        onShow: () => events.later()
      },
    ];
    if (model.runs.length < 2) return panels;
    const compare = this.compare = new ComparePanel(model, (step, asked) => {
      const {from, to} = this.motion.goal;
      const wasWhole = from <= model.whole.from && to >= model.whole.to;
      model.whole = wholeOfAll(model.runs);
      if (wasWhole && (asked || !step)) this.motion.jump(model.whole);
      else if (step && (asked || wasWhole)) this.motion.jump(framed(step, model.whole, 1));
      model.changed("layout");
    });
    return [{id: "compare", label: "Compare", element: compare.element}, ...panels];
  }

  private build(tooltip: HTMLElement): void {
    const {info} = this.model.first;
    const titles =
      this.model.runs.map((run, i) => h("span", {class: "run-title"},
                            this.model.runs.length > 1 ? h("b", {class: "run"}, "AB"[i]) : null,
                            longText(titleOf(run, this.model.runs.length > 1))));
    const keys = h("button",
      {type: "button", class: "quiet", "aria-label": "List of keys", click: () => this.help.show()},
      "?");
    const isStatic = this.model.first.source.isStatic;
    const link = new LinkMenu(isStatic, () => this.address.place, (text) => this.say(text)).element;
    this.stage.corner.prepend(h("div", {class: "ways"},
      this.way("Longest",
        "The longest idle gap of a GPU, or stall of a step; again: the second longest (I)",
        () => void this.actions.find.longestGap()),
      this.way("All", "Show the whole run (0)", () => this.motion.to(this.model.whole))));
    this.stage.element.prepend(...this.model.runs.map((run) => new StepStrip(this.model, run, {
      go: (...steps) => this.goToSteps(...steps),
    }).element));
    document.body.classList.add("timeline");
    document.body.replaceChildren(
      h("header", {class: "timeline-bar"}, h("b", {class: "brand"}, "batchlight"),
        h("h1", {}, ...titles), this.span, this.working, this.search.input, link, keys,
        themeButton()),
      this.banner, this.stage.element, this.dock.element, this.status, this.help.element, tooltip);
    document.title = `${info.title || info.source} - timeline`;
    this.drawHead();
    // A report and a notebook keep the focus until their reader goes into the timeline; a report
    // has little room.
    if (this.embedded) this.dock.setOpen(false);
    if (window.parent === window) this.stage.region.focus({preventScroll: true});
  }

  // What has a key as well.
  private way(label: string, name: string, click: () => void): HTMLElement {
    return h(
      "button", {type: "button", class: "quiet", title: name, "aria-label": name, click}, label);
  }

  // What grows with a run that goes on, and with what is found after the first picture.
  private drawHead(): void {
    const {runs} = this.model;
    this.span.textContent = runs.length > 1 ? "" : headOf(runs[0]);
    this.compare?.drawHeads();
    this.drawBanners();
  }

  private drawBanners(): void {
    const {info} = this.model.first;
    this.working.hidden = this.model.runs.every((run) => run.info.complete);
    const left = info.static && isPart(info)
      ? h("aside", {class: "banner", role: "note"},
          ...prose(`To keep this file small it holds ${info.static.why}.`))
      : null;
    const losses = lossesOf(this.model);
    const shown = [lossBanner(losses), left, footnotes(losses)].filter(
      (one): one is HTMLElement => one !== null);
    this.banner.replaceChildren(...shown, ...this.warnings.values());
  }

  private listen(): void {
    const {model} = this;
    model.listen((change) => {
      if (change === "selection" && (model.selected || model.reading)) {
        if (this.notes.isTyping) this.notes.follows(this.noted);
        else this.dock.show("event", this.embedded);
        this.tell();
      }
      if (change === "range" && model.range) this.dock.show("range");
      if (change === "search") this.stage.show(this.matcher());
    });
  }

  // What a search found keeps its colour.
  private matcher(): Matches {
    const {found} = this.model;
    if (!found) return null;
    const text = found.text.toLowerCase();
    const verdicts =
      new Map<RunView, Map<number, boolean>>(this.model.runs.map((run) => [run, new Map()]));
    return (run, name) => {
      const known = verdicts.get(run)!;
      if (found.names.get(run)?.has(name)) return true;
      let verdict = known.get(name);
      if (verdict === undefined) {
        const shown = run.names.get(name);
        if (shown === undefined) return true;
        known.set(name, (verdict = shown.toLowerCase().includes(text)));
      }
      return verdict;
    };
  }

  // The selected event in words, for who does not see it.
  private tell(): void {
    const {selected, reading} = this.model;
    if (!selected) return this.say(reading ? readingText(this.model, reading).join(", ") : "");
    const {run, event} = selected;
    const step = event.step ? `, step ${event.step.number}` : "";
    const called = stepTitle(run, event.ref, event.name) ?? (event.name || event.title);
    this.say(`${called}, ${time(event.to - event.from)}, at ${time(event.from)}${step}, ${
      placeOf(this.model, run, event)}, row ${event.depth + 1}`);
  }

  // By places; their time and, where a number means one step, the report's tables of them.
  private goToSteps(
    run: RunView, steps: StepsInfo, first: number, last: number, leaves: boolean): void {
    const {model} = this;
    if (leaves) this.address.leave();
    const {number, from, to} = steps;
    const process = run.info.steps.indexOf(steps);
    const isNamed =
      number.indexOf(number[first]) === first && number.indexOf(number[last]) === last;
    if (isNamed && run === model.first && process === 0)
      return this.address.goToSteps(number[first], number[last]);
    const span = {from: from[first] + run.offset, to: to[last] + run.offset};
    this.motion.jump(framed(span, model.whole));
    const named = {first: number[first], last: number[last], of: whoseSteps(model, run, steps)};
    model.setRange(isNamed ? {...span, steps: {...named, process}} : span);
  }

  stepRange(): void {
    const step = this.actions.stepAt();
    if (!step) return this.say("There is no step here.");
    this.address.leave();
    this.model.setRange(step);
  }

  // What a note is written to.
  private get noted(): Noted {
    const {model} = this;
    const {from, to} = model.view;
    const middle = (from + to) / 2;
    const {run = model.first, event} = model.selected ?? {};
    return {
      run,
      span: this.actions.selectedSpan ?? model.range ?? {from: middle, to: middle},
      place: event ? {table: event.table, row: event.row, track: event.track ?? undefined} : {},
    };
  }

  // Of what G or another key has asked for just before, once it is found.
  note(): void {
    this.dock.show("notes");
    this.notes.add(this.noted, this.actions.isAsking);
  }

  say(text: string): void {
    this.status.textContent = text;
  }

  // Something is wrong that the reader should see; of each kind the last.
  warn(text: string, kind = "wrong"): void {
    if (this.warnings.get(kind)?.textContent === text) return;
    this.unwarn(kind);
    if (text === "") return;
    const box = h("aside", {class: `banner loss warning ${kind}`, role: "alert"}, text);
    this.warnings.set(kind, box);
    this.banner.append(box);
  }

  unwarn(kind: string): void {
    this.warnings.get(kind)?.remove();
    this.warnings.delete(kind);
  }

  get listeners(): Listeners {
    return {
      connection: this.connection,
      onData: () => {
        this.model.changed("data");
      },
      onNames: () => this.model.changed("names"),
      onError: (error) => {
        if (error instanceof CallError && error.code === "generation") void this.live.renew();
        else if (!this.connection.gone) this.warn(error.message);
      },
      onProgress: () => {},
    };
  }
}
