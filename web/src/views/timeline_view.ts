// The timeline within the report: an own document in a frame, so that its keys, its styles and its
// script meet nothing of the report. It is opened when it comes into view, or by a link to a place
// in it (#timeline&step=13), which fills the window; the browser's Back returns to the report.
import {h} from "../dom";
import type {RunAnswer} from "../timeline/data/protocol";
import {kTimelinePrefix} from "../timeline_link";
import {section} from "./section";

const kData = ["timeline-run", "timeline-names", "timeline-events"];
const kEmpty = "<!doctype html><meta charset=utf-8><title>Timeline</title>";
const kNear = "300px";  // how near the frame is to the window when its document is made

// What the file has for the timeline, to be taken before the page replaces its own elements.
export class TimelineParts {
  private readonly data = kData.map((id) => document.getElementById(id));
  private readonly style = document.getElementById("timeline-style");
  private readonly script = document.getElementById("timeline-script");

  get present(): boolean {
    return this.script !== null && this.data.every((part) => part !== null);
  }

  get run(): RunAnswer {
    return JSON.parse(this.data[0]!.textContent!) as RunAnswer;
  }

  // Moves all into the frame's document, where the script starts at once.
  moveInto(to: Document): void {
    const style = to.createElement("style");
    style.textContent = this.style?.textContent ?? "";
    to.head.append(style);
    for (const part of this.data) to.body.append(to.adoptNode(part!));
    const script = to.createElement("script");
    script.textContent = this.script!.textContent;
    to.body.append(script);
  }
}

// The address of two steps in the middle of those that the file holds, which look like most.
function middleOf({steps, static: held}: RunAnswer): string {
  if (steps.length === 0) return "";
  const {from, to} = steps[0];
  const inside =
    [...from.keys()].filter((i) => !held || (from[i] >= held.from && to[i] <= held.to));
  if (inside.length < 2) return "";
  const first = inside[Math.floor(inside.length / 2) - 1];
  return `from=${from[first]}&to=${to[first + 1]}`;
}

export class TimelineView {
  readonly element: HTMLElement|null;
  private readonly frame = h("iframe", {title: "Timeline", class: "timeline-frame"});
  private readonly box = h("div", {class: "timeline-box"});
  private ready: Promise<HTMLElement>|null = null;
  private first = "";          // the place that is shown at first
  private cameByLink = false;  // from within this page, else Back would leave it

  constructor(private readonly parts: TimelineParts) {
    if (!parts.present) {
      this.element = null;
      return;
    }
    const whole =
      h("button", {type: "button", class: "quiet", click: () => (location.hash = kTimelinePrefix)},
        "Fill the window");
    const back = h("button", {type: "button", class: "quiet back", click: () => this.leave()},
      "← Back to the report");
    this.box.append(h("div", {class: "timeline-head"}, back), this.frame);
    const {run} = parts;
    this.first = middleOf(run);
    const left = run.static?.why ? ` To keep this file small it holds ${run.static.why}.` : "";
    this.element = section("timeline", "Timeline",
      `Click into it, then W and S zoom, A and D pan, ? lists all keys.${left}`, h("p", {}, whole),
      this.box);
    addEventListener("hashchange", () => {
      this.cameByLink = true;
      this.follow();
    });
    const near = new IntersectionObserver((entries) => {
      if (entries.some(({isIntersecting}) => isIntersecting)) void this.open(this.first);
    }, {rootMargin: kNear});
    near.observe(this.box);
    new MutationObserver(() => this.copyTheme()).observe(document.documentElement, {
      attributeFilter: ["data-theme"]
    });
  }

  // Once the report is in the document: the address may name a place.
  follow(): void {
    const wanted = location.hash.startsWith(`#${kTimelinePrefix}`);
    document.body.classList.toggle("whole-timeline", wanted);
    if (wanted) void this.go(location.hash.slice(kTimelinePrefix.length + 1));
  }

  private leave(): void {
    if (this.cameByLink) history.back();
    else location.hash = "timeline";
  }

  private async go(place: string): Promise<void> {
    const fresh = this.ready === null;
    const root = await this.open(place || this.first);
    if (!fresh && place) {
      root.dataset.place = place;  // for a script that has still to start
      root.dispatchEvent(new CustomEvent("place", {detail: place}));
    }
    this.frame.contentWindow?.focus();
  }

  // The frame's document with the timeline started in it; `place` is where it begins.
  private open(place: string): Promise<HTMLElement> {
    return this.ready ??= new Promise((done) => {
      this.frame.addEventListener("load", () => {
        const to = this.frame.contentDocument!;
        to.documentElement.lang = "en";
        to.documentElement.dataset.place = place;
        to.documentElement.classList.add("embedded");
        this.copyTheme();
        this.parts.moveInto(to);
        done(to.documentElement);
      }, {once: true});
      this.frame.srcdoc = kEmpty;
    });
  }

  private copyTheme(): void {
    const inner = this.frame.contentDocument?.documentElement;
    const {theme} = document.documentElement.dataset;
    if (inner && theme) inner.dataset.theme = theme;
  }
}
