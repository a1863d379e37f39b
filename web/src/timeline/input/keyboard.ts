// Keys act wherever the focus is, as a click on a button or a panel takes it along; except where
// text is typed, and for what the element with the focus does with a key.
import type {App} from "../app";
import type {Action} from "./keys";
import {actionOf, isTaken} from "./keys";

const kZoom = 0.6;
const kPan = 0.18;  // of the window

export class Keyboard {
  private readonly does: Partial<Record<Action, () => void>>;

  constructor(private readonly app: App) {
    this.does = {...this.moves(), ...this.events(), ...this.tools()};
    document.addEventListener("keydown", (event) => {
      // Only who goes by keys from one to the next needs to see that the rows are reached.
      if (event.key === "Tab") document.body.classList.add("by-keys");
      const at = event.target as HTMLElement;
      if (event.defaultPrevented || app.help.element.open || isTaken(event.key, {
            tag: at.tagName,
            type: at.getAttribute?.("type") ?? "",
            role: at.getAttribute?.("role") ?? "",
            editable: at.isContentEditable,
          }))
        return;
      this.press(event);
    });
    document.addEventListener(
      "pointerdown", () => document.body.classList.remove("by-keys"), {capture: true});
  }

  private press(event: KeyboardEvent): void {
    const action = actionOf(event);
    if (!action) return;
    if (this.app.help.lettersOff && event.key.length === 1 && !event.ctrlKey && action !== "help")
      return;
    event.preventDefault();
    this.app.say("");  // what the key before had to say is over
    this.does[action]?.();
  }

  private moves(): Partial<Record<Action, () => void>> {
    const {motion, model, pointer, actions} = this.app;
    const at = (): number => {
      const {from, to} = motion.goal;
      if (pointer.x >= 0) return from + (pointer.x / model.view.width) * (to - from);
      const selected = actions.selectedSpan;
      const middle = selected ? (selected.from + selected.to) / 2 : (from + to) / 2;
      return middle >= from && middle <= to ? middle : (from + to) / 2;
    };
    const to = (end: "first"|"last"): void => {
      const {from, to: until} = motion.goal;
      const length = until - from;
      motion.to(end === "first" ? {from: model.whole.from, to: model.whole.from + length}
                                : {from: model.whole.to - length, to: model.whole.to});
    };
    return {
      zoom_in: () => motion.zoom(at(), kZoom),
      zoom_out: () => motion.zoom(at(), 1 / kZoom),
      pan_left: () => motion.pan(-kPan),
      pan_right: () => motion.pan(kPan),
      frame: () => actions.frame(),
      all: () => motion.to(model.whole),
      first: () => to("first"),
      last: () => to("last"),
    };
  }

  private events(): Partial<Record<Action, () => void>> {
    const {actions} = this.app;
    return {
      before: () => actions.beside("left"),
      after: () => actions.beside("right"),
      left_event: () => actions.beside("left"),
      right_event: () => actions.beside("right"),
      parent: () => actions.beside("up"),
      child: () => actions.beside("down"),
      link_forward: () => actions.follow(true),
      link_back: () => actions.follow(false),
      other_link: () => actions.followOther(),
      longest: () => actions.find.longestSame(),
      next_same: () => actions.find.nextSame(1),
      previous_same: () => actions.find.nextSame(-1),
      next_gap: () => void actions.find.next({kind: "gap"}, 1),
      previous_gap: () => void actions.find.next({kind: "gap"}, -1),
      longest_gap: () => void actions.find.longestGap(),
      to_range: () => actions.toRange(),
      step_range: () => this.app.stepRange(),
    };
  }

  private tools(): Partial<Record<Action, () => void>> {
    const {app} = this;
    const {model} = app;
    return {
      mark: () => {
        const span = app.actions.selectedSpan;
        const again = span?.from === model.mark?.from && span?.to === model.mark?.to;
        model.setMark(again ? null : span);
      },
      note: () => app.note(),
      search: () => {
        app.search.input.focus();
        app.search.input.select();
      },
      tracks: () => document.querySelector<HTMLInputElement>(".track-filter")?.focus(),
      help: () => app.help.show(),
      fold: () => {
        const {selected} = model;
        const track = selected &&
          model.tracks.find(
            ({run, info}) => run === selected.run.index && info?.id === selected.event.track);
        if (track) model.fold(track, !model.isOpen(track));
      },
      clear: () => {
        if (model.range) model.setRange(null);
        else if (model.selected || model.reading) app.actions.clear();
        else if (model.found) app.search.set("");
        else if (model.filter) model.setFilter("");
        else if (model.mark) model.setMark(null);
      },
    };
  }
}
