// The names of the tracks at the left, with what folds and pins them. Only those in the window are
// elements of the page.
import {h} from "../../dom";
import type {Block} from "../state/layout";
import {blockAt} from "../state/layout";
import type {Model} from "../state/model";

const kLineHeight = 23;  // of a name, as the lowest track is high

export class TrackNames {
  readonly element = h("div", {class: "track-names"});
  readonly filter: HTMLInputElement;
  private readonly pinnedBox = h("div", {class: "pinned"});
  private readonly list = h("div", {class: "list"});
  private height = 0;

  constructor(private readonly model: Model, leave: () => void) {
    this.filter = h("input", {
      type: "search",
      class: "track-filter",
      placeholder: "Tracks",
      "aria-label": "Show only tracks with these words",
      spellcheck: "false",
    });
    this.filter.addEventListener("input", () => model.setFilter(this.filter.value));
    // The next letter is a key again.
    this.filter.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      model.setFilter("");
      leave();
    });
    model.listen((change) => {
      if (change === "layout" && model.filter !== this.filter.value)
        this.filter.value = model.filter;
    });
    this.element.append(this.list, this.pinnedBox);
  }

  resize(height: number): void {
    this.height = height;
    this.draw();
  }

  draw(): void {
    const {layout, scroll} = this.model;
    this.pinnedBox.style.height = `${layout.pinnedHeight}px`;
    this.pinnedBox.replaceChildren(
      ...layout.pinned.map((block) => this.row(block, block.top, 0, this.whose(block))));
    const rows: HTMLElement[] = [];
    for (let i = blockAt(layout.blocks, scroll); i < layout.blocks.length; ++i) {
      const top = layout.pinnedHeight + layout.blocks[i].top - scroll;
      if (top >= this.height) break;
      rows.push(this.row(layout.blocks[i], top, layout.pinnedHeight));
    }
    const focused = document.activeElement?.getAttribute("data-key");
    this.list.replaceChildren(...rows);
    if (focused)
      this.element.querySelector<HTMLElement>(`[data-key="${focused}"]`)?.focus({
        preventScroll: true
      });
  }

  // Of pinned tracks of one name, the rank: what they stand in is not around them.
  private whose({track}: Block): string {
    const {model} = this;
    const {name, run, info} = track;
    const alike =
      model.layout.pinned.filter(({track: one}) => one.name === name && one.run === run);
    const group = model.runOf(track).info.groups.find(({id}) => id === info?.group);
    if (alike.length < 2 || !group) return name;
    return `${name}, ${group.rank >= 0 ? `rank ${group.rank}` : group.title}`;
  }

  private row(block: Block, top: number, least = 0, called = block.track.name): HTMLElement {
    const {track, folds, open, level} = block;
    const {model} = this;
    const twist = folds ? h("button", {
      type: "button",
      class: "twist",
      "data-key": `fold-${track.id}`,
      "aria-expanded": String(open),
      "aria-label": `Rows of ${track.name}`,
      click: () => model.fold(track, !open),
    })
                        : null;
    const pinned = model.pinned.includes(track.id);
    const pin = track.rows > 0 ? h("button", {
      type: "button",
      class: "pin",
      "data-key": `pin-${track.id}`,
      "aria-pressed": String(pinned),
      "aria-label": `Keep ${track.name} on top`,
      title: pinned ? "Do not keep on top" : "Keep on top",
      click: () => model.pin(track.id),
    })
                               : null;
    const run =
      model.runs.length > 1 && track.rows > 0 ? h("b", {class: "run"}, "AB"[track.run]) : null;
    const name = h("span", {class: "track-name", title: called}, called);
    const row =
      h("div", {class: track.rows > 0 ? "track" : "track heading"}, twist, run, name, pin);
    row.style.top = `${top}px`;
    row.style.height = `${block.height}px`;
    // Who scrolls through many rows still sees whose they are.
    const above = least - top;
    if (above > 0)
      row.style.paddingTop = `${Math.min(above, block.height - model.scale * kLineHeight)}px`;
    row.style.setProperty("--level", String(level));
    return row;
  }
}
