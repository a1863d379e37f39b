// The event under the pointer in a few words.
import {h} from "../../dom";
import {count, time} from "../../format";
import {kStillOpen} from "../data/items";
import {stepTitle} from "../data/steps";
import type {Hit, Model, Reading} from "../state/model";
import {readingText} from "../state/places";

const kOffPx = 14;

export class Tooltip {
  readonly element = h("div", {class: "tooltip", hidden: true, "aria-hidden": "true"});

  private last: [() => Hit | null, PointerEvent]|null = null;

  constructor(private readonly model: Model) {
    // A name or whole times that were asked for when the box came under the pointer.
    model.listen((change) => {
      if (change === "names" && this.last && !this.element.hidden) this.show(...this.last);
    });
  }

  // `find` is asked again when more is known.
  show(find: () => Hit | null, event: PointerEvent|null, reading: Reading|null = null): void {
    const {model, element} = this;
    const hit = event && find();
    const same = hit?.ref === model.hover?.ref && hit?.depth === model.hover?.depth;
    model.hover = hit;
    if (!same) model.changed("hover");
    element.hidden = (!hit && !reading) || !event;
    this.last = hit && event ? [find, event] : null;
    if (event && hit) this.draw(event, ...wordsOf(hit));
    else if (event && reading) this.draw(event, ...readingText(model, reading));
  }

  private draw(event: PointerEvent, name: string, words: string): void {
    const {element} = this;
    element.replaceChildren(h("b", {}, name), h("span", {}, words));
    const width = element.offsetWidth;
    const left = Math.min(event.clientX + kOffPx, window.innerWidth - width - 8);
    element.style.left = `${Math.max(8, left)}px`;
    const below = event.clientY + kOffPx + element.offsetHeight < window.innerHeight;
    element.style.top =
      `${below ? event.clientY + kOffPx : event.clientY - kOffPx - element.offsetHeight}px`;
  }
}

function wordsOf(hit: Hit): [name: string, words: string] {
  const label = hit.run.names.label(hit.name) ?? "…";
  const name = (hit.merged === 1 ? stepTitle(hit.run, hit.ref, label) : undefined) ?? label;
  const about = hit.cut ? "more than " : hit.step === 1 ? "" : "about ";
  const long = about + time(hit.to - hit.from);
  const words = hit.merged > 1
    ? `${count(hit.merged)} short events in ${long}, the longest of them this`
    : `${hit.to > hit.from || hit.step === 1 ? long : "under a step of this zoom"}${
        hit.flags & kStillOpen ? ", still open at the end" : ""}`;
  return [name || "(no name)", words];
}
