// Puts the timeline together: the drawing, the panels, keys and pointer, the address.
import {h, longText} from "../dom";
import {count, time} from "../format";
import {themeButton} from "../theme";
import {footnotes, lossBanner} from "../views/header_view";
import {tracksOfAll, wholeOfAll} from "./data/open_run";
import type {Listeners} from "./data/open_run";
import type {Connection} from "./data/connection";
import {kGone} from "./data/http_source";
import {CallError} from "./data/source";
import {trackId} from "./data/track";
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
import {NotesPanel} from "./panels/notes_panel";
import {RangePanel} from "./panels/range_panel";
import {SearchPanel} from "./panels/search_panel";
import {Stage} from "./stage/stage";
import {Tooltip} from "./stage/tooltip";
import type {RunView} from "./state/model";
import {framed} from "./state/viewport";
import {Model} from "./state/model";
import type {UrlState} from "./state/url_state";

// "live, 29.9 s, 622,509 events, 260 steps, median 52.5 ms".
function headOf({info}: RunView): string {
  const [first, ...others] = info.steps;
  const whose = first && others.length > 0 && first.rank >= 0 ? ` of rank ${first.rank}` : "";
  const steps =
    first?.count > 0 ? `, ${count(first.count)} steps${whose}, median ${time(first.median)}` : "";
  return `${info.growing ? "live, " : ""}${time(info.duration ?? info.to - info.from)}, ${
    count(info.events)} events${steps}`;
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
  readonly status = h("div", {class: "status", role: "status", "aria-live": "polite"});
  private readonly banner = h("div", {class: "banners"});
  // The first picture comes before what takes longer to find.
  private readonly working =
    h("span", {class: "muted working", role: "status"}, "finding steps, phases and gaps …");
  private readonly span = h("span", {class: "muted wide-only span"});
  private readonly live: Live;
  private readonly embedded = document.documentElement.classList.contains("embedded");

  constructor(runs: RunView[], private readonly connection: Connection, state: UrlState) {
    const model = this.model = new Model(runs, tracksOfAll(runs), wholeOfAll(runs));
    model.pinSteps();
    this.stage = new Stage(model);
    this.motion = new Motion(model);
    this.actions = new Actions(model, this.stage, this.motion, (text) => this.say(text));
    this.search = new SearchPanel(model, {
      next: (wanted, direction) => void this.actions.next(wanted, direction),
      longest: (wanted, nth) => void this.actions.longest(wanted, nth),
      leave: () => this.stage.region.focus(),
      show: () => this.dock.show("search"),
    });
    this.range = new RangePanel(model);
    this.notes =
      new NotesPanel(model, (span) => this.motion.to({from: span.from - 1e6, to: span.to + 1e6}));
    this.dock = new Dock(this.panels());
    const tooltip = new Tooltip(model);
    this.pointer = new Pointer(model, this.stage, this.motion, {
      select: (x, y) => this.actions.selectAt(x, y),
      frame: () => this.actions.frame(),
      hover: (x, y, event) => tooltip.show(event ? this.stage.hitAt(x, y) : null, event),
    });
    new Keyboard(this);
    this.build(tooltip.element);
    this.listen();
    this.live =
      new Live(model, this.motion, connection, (text) => this.warn(text), () => this.drawHead());
    connection.listen((reach) => {
      if (reach === "gone") this.warn(kGone).classList.add("gone");
      else this.banner.querySelector(".warning")?.remove();
    });
    this.address = new Address(this, state);
    if (runs.length > 1) this.dock.show("compare");
  }

  private panels(): DockPanel[] {
    const {model, actions} = this;
    const event = new EventPanel(model, {
      go: (run, ref) => actions.go(run, ref),
      longest: () => actions.longestSame(),
      next: (direction) => actions.nextSame(direction),
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
    const compare = new ComparePanel(model, (first) => {
      const {from, to} = this.motion.goal;
      const wasWhole = from <= model.whole.from && to >= model.whole.to;
      model.whole = wholeOfAll(model.runs);
      if (wasWhole) this.motion.jump(first ? framed(first, model.whole, 1) : model.whole);
      model.changed("layout");
    });
    return [{id: "compare", label: "Compare", element: compare.element}, ...panels];
  }

  private build(tooltip: HTMLElement): void {
    const {info} = this.model.first;
    const titles =
      this.model.runs.map((run, i) => h("span", {class: "run-title"},
                            this.model.runs.length > 1 ? h("b", {class: "run"}, "AB"[i]) : null,
                            longText(run.info.title || run.info.source)));
    const keys = h("button",
      {type: "button", class: "quiet", "aria-label": "List of keys", click: () => this.help.show()},
      "?");
    document.body.classList.add("timeline");
    document.body.replaceChildren(
      h("header", {class: "timeline-bar"}, h("b", {class: "brand"}, "batchlight"),
        h("h1", {}, ...titles), this.span, this.working, this.search.input, keys, themeButton()),
      this.banner, this.stage.element, this.dock.element, this.status, this.help.element, tooltip);
    document.title = `${info.title || info.source} - timeline`;
    this.drawHead();
    // A report keeps the focus until its reader goes into the timeline, and has little room.
    if (this.embedded) this.dock.setOpen(false);
    else this.stage.region.focus({preventScroll: true});
  }

  // What grows with a run that goes on, and with what is found after the first picture.
  private drawHead(): void {
    const {runs} = this.model;
    this.span.textContent =
      runs.map((run, i) => `${runs.length > 1 ? `${"AB"[i]}: ` : ""}${headOf(run)}`).join("; ");
    this.drawBanners();
  }

  private drawBanners(): void {
    const {info} = this.model.first;
    this.working.hidden = this.model.runs.every((run) => run.info.complete);
    const left = info.static && info.static.left_out > 0
      ? h("aside", {class: "banner", role: "note"},
          `To keep this file small it holds ${info.static.why}.`)
      : null;
    const shown = [lossBanner(info.losses), left, footnotes(info.losses)].filter(
      (one): one is HTMLElement => one !== null);
    this.banner.replaceChildren(...shown);
  }

  private listen(): void {
    const {model} = this;
    model.listen((change) => {
      if (change === "selection" && model.selected) {
        this.dock.show("event", this.embedded);
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
    const {run, event} = this.model.selected!;
    const track = this.model.tracks.find(({id}) => id === trackId(run.index, event.track ?? -1));
    const step = event.step ? `, step ${event.step.number}` : "";
    this.say(`${event.name || event.title}, ${time(event.to - event.from)}, at ${time(event.from)}${
      step}, ${track?.name ?? ""}, depth ${event.depth}`);
  }

  stepRange(): void {
    const step = this.actions.stepAt();
    if (step === null || !this.range.showSteps(step, step)) this.say("There is no step here.");
  }

  note(): void {
    const {model} = this;
    const selected = this.actions.selectedSpan;
    const middle = (model.view.from + model.view.to) / 2;
    const {event} = model.selected ?? {};
    this.dock.show("notes");
    this.notes.add(selected ?? model.range ?? {from: middle, to: middle},
      event ? {table: event.table, row: event.row, track: event.track ?? undefined} : {});
  }

  say(text: string): void {
    this.status.textContent = text;
  }

  // Something is wrong that the reader should see.
  warn(text: string): HTMLElement {
    const old = this.banner.querySelector(".warning");
    const box = h("aside", {class: "banner loss warning", role: "alert"}, text);
    if (old) old.replaceWith(box);
    else this.banner.append(box);
    return box;
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
