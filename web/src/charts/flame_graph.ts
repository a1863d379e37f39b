// A flame graph that zooms: a click makes a frame the whole. The path above it, Escape, or a click
// on the top frame goes back up. Arrow keys move between frames, Enter zooms.
import {h} from "../dom";
import {percent, time} from "../format";
import {flameLayout} from "./flame_layout";
import type {Frame} from "./flame_layout";

export interface FlameData {
  label: string;  // for screen readers
  name: string[];
  title: string[];  // full names, shown when hovering
  look: string[];   // class of the frame: what the node is
  parent: number[];
  value_ns: number[];
  whole_ns: number;  // what the width stands for: the step, whose rest is in nothing
}

const kRowHeight = 26;  // px, as in style/modules.css
const kLeast = 0.0015;

export class FlameGraph {
  readonly element = h("div", {class: "flame-box"});
  private readonly box = h("div", {class: "flame", role: "group"});
  private readonly path = h("nav", {class: "flame-path", "aria-label": "Zoom"});
  private readonly status = h("div", {class: "flame-status muted", "aria-live": "polite"});
  private readonly total: number;
  private root = -1;

  constructor(private readonly data: FlameData) {
    this.total = data.whole_ns;
    this.box.setAttribute("aria-label", data.label);
    this.box.addEventListener("keydown", (event) => this.key(event));
    this.element.append(this.path, this.box, this.status);
    this.draw();
  }

  private draw(): void {
    const frames =
      flameLayout(this.data.parent, this.data.value_ns, this.data.whole_ns, this.root, kLeast);
    const levels = frames.reduce((most, frame) => Math.max(most, frame.level + 1), 0);
    this.box.style.height = `${levels * kRowHeight}px`;
    this.box.replaceChildren(...frames.map((frame, i) => this.frame(frame, i === 0)));
    this.drawPath();
    this.status.textContent = "Click a frame to zoom.";
  }

  // The way back: a button for the whole and for each frame around the one that is shown.
  private drawPath(): void {
    const rows: number[] = [];
    for (let row = this.root; row >= 0; row = this.data.parent[row]) rows.unshift(row);
    const parts = rows.map(
      (row) => (row === this.root ? h("b", {title: this.data.title[row]}, this.data.name[row])
                                  : this.back(row, this.data.name[row])));
    this.path.hidden = rows.length === 0;
    this.path.replaceChildren(this.back(-1, "← All"), ...parts);
  }

  private back(row: number, label: string): HTMLElement {
    const title = row < 0 ? "Show all again" : `Back to ${this.data.title[row]}`;
    const button = h("button", {type: "button", class: "quiet", title}, label);
    button.addEventListener("click", () => this.show(row));
    return button;
  }

  private frame(frame: Frame, isFirst: boolean): HTMLElement {
    const {row, level, left, width} = frame;
    const {title, name, value_ns} = this.data;
    const value = `${time(value_ns[row])}, ${percent(value_ns[row], this.total)}`;
    const style = `left:${100 * left}%;width:${100 * width}%;top:${level * kRowHeight}px`;
    const button = h(
      "button",
      {
        type: "button",
        class: `frame look-${this.data.look[row]} level-${level % 2}`,
        style,
        title: `${title[row]}\n${value}`,
        tabindex: isFirst ? 0 : -1,
        "aria-label": `${title[row]}, ${value}`,
      },
      width > 0.02 ? name[row] : "",
    );
    button.addEventListener("click", () => this.zoom(row));
    button.addEventListener("focus", () => (this.status.textContent = `${title[row]}: ${value}`));
    button.addEventListener(
      "mouseenter", () => (this.status.textContent = `${title[row]}: ${value}`));
    return button;
  }

  private zoom(row: number): void {
    this.show(row === this.root ? this.data.parent[row] : row);
  }

  private show(root: number): void {
    this.root = root;
    this.draw();
    this.box.querySelector<HTMLElement>(".frame")?.focus({preventScroll: true});
  }

  private key(event: KeyboardEvent): void {
    const frames = [...this.box.querySelectorAll<HTMLElement>(".frame")];
    const at = frames.indexOf(document.activeElement as HTMLElement);
    const step = event.key === "ArrowRight" || event.key === "ArrowDown" ? 1 : -1;
    if (event.key.startsWith("Arrow"))
      frames[Math.max(0, Math.min(frames.length - 1, at + step))].focus();
    else if (event.key === "Escape" && this.root >= 0) this.zoom(this.root);
    else return;
    event.preventDefault();
  }
}
