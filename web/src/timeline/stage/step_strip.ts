// Step times over the run: a bar a step, of its phases in the report's colours, so that what was
// slow is seen, and gone to, wherever the picture is. Of several steps in a bar it shows the mean
// and, above that, the longest. One strip a run; none where no steps were found.
import type {ColumnBar} from "../../charts/columns";
import {columnsFor, heightThatFits, runsOfKind} from "../../charts/columns";
import {kSteady} from "../../data";
import {h, svg} from "../../dom";
import {percent, time} from "../../format";
import {seriesColor, seriesNumbers} from "../../palette";
import type {StepsInfo} from "../data/protocol";
import type {ChartPhase} from "../data/step_times";
import {columnWords, longestIn, phasesOf, stepWords, timesOf} from "../data/step_times";
import {firstEnding, stepsOf} from "../data/steps";
import type {Model, RunView} from "../state/model";
import {whoseSteps} from "../state/places";

const kLeastPx = 2;
const kMostPx = 28;   // of a bar: few steps do not fill the window
const kGapFrom = 4;   // of the width of a bar
const kTop = 8;       // for marks
const kBottom = 3;    // for what is in the picture
const kMarkPx = 3.5;  // half of its width
const kLeastMarkPx = 2;
const kShownPhases = 5;
const kPage = 10;
const kOffPx = 10;  // of the words, from the strip

export interface StripActions {
  // To steps by their places; `leaves`: the place before stays in the browser's history.
  go(run: RunView, steps: StepsInfo, first: number, last: number, leaves: boolean): void;
}

export class StepStrip {
  readonly element: HTMLElement;
  private readonly head = h("div", {class: "step-head"});
  private readonly shown = h("div", {class: "steps-shown"});
  private readonly taken = h("div", {class: "steps-taken", hidden: true});
  private readonly tip = h("div", {class: "step-tip", hidden: true, "aria-hidden": "true"});
  private readonly canvas = svg("svg", {"aria-hidden": "true"});
  private readonly slider: HTMLElement;
  private drawn?: StepsInfo;
  private columns: ColumnBar[] = [];
  private phases: ChartPhase[] = [];
  private colors: string[] = [];
  private barPx = 1;
  private width = 0;
  private height = 0;
  private most = 1;     // ns, at the top
  private at = -1;      // place of the step that keys go from
  private from = -1;    // column where the pointer went down
  private marked = "";  // what is shown as in the picture

  constructor(private readonly model: Model, private readonly run: RunView,
    private readonly actions: StripActions) {
    // What is in the picture stands behind the bars, whose colours it leaves alone.
    this.slider = h("div", {class: "step-strip", role: "slider", tabindex: "0"}, this.shown,
      this.canvas, this.taken);
    this.element = h("div", {class: "step-times"}, this.head, this.slider, this.tip);
    this.listen();
    model.listen((change) => {
      if (change === "run" || (change === "selection" && this.steps !== this.drawn)) this.draw();
      if (change === "view" || change === "layout") this.markShown();
    });
    new ResizeObserver(() => this.resize()).observe(this.slider);
    this.draw();
  }

  // Of the process of the selected event, else of the first.
  private get steps(): StepsInfo|undefined {
    const {run, model: {selected}} = this;
    const track =
      selected?.run === run && run.info.tracks.find(({id}) => id === selected.event.track);
    return (track && stepsOf(run.info, track.group)) || run.info.steps[0];
  }

  private resize(): void {
    const {clientWidth, clientHeight} = this.slider;
    if (clientWidth === this.width && clientHeight === this.height) return;
    this.width = clientWidth;
    this.height = clientHeight;
    this.draw();
  }

  // --- drawing ---

  private draw(): void {
    const {steps, run, width, height} = this;
    this.drawn = steps;
    this.element.hidden = !steps || steps.count < 2;
    if (!steps || this.element.hidden) return;
    this.say(steps);
    if (width === 0) return;
    this.phases = phasesOf(run.info, steps);
    const series = seriesNumbers(this.phases.map(({key}) => key));
    this.colors = this.phases.map(({idle}, i) => seriesColor(series[i], idle));
    const {scale} = this.model;
    this.columns = columnsFor(timesOf(steps), width, kLeastPx * scale);
    // Of two runs with one scale.
    const others = this.model.runs.filter((one) => one !== run && one.info.steps[0])
                     .map(({info}) => columnsFor(timesOf(info.steps[0]), width, kLeastPx * scale));
    this.most =
      Math.max(1, ...[this.columns, ...others].map((columns) => heightThatFits(columns).height));
    this.barPx = Math.min(kMostPx * scale, width / this.columns.length);
    this.canvas.setAttribute("width", String(width));
    this.canvas.setAttribute("height", String(height));
    this.canvas.replaceChildren(
      this.ground(), ...this.bars(), this.medianLine(steps.median), ...this.marks());
    this.marked = "";
    this.markShown();
  }

  private say(steps: StepsInfo): void {
    const {model, run, slider} = this;
    const whose = whoseSteps(model, run, steps);
    const last = steps.count - 1;
    const length = run.info.growing ? steps.to[last] - steps.from[last] : steps.median;
    this.head.replaceChildren(h("b", {}, `Step times${whose ? ` of ${whose}` : ""}`),
      h("span", {class: "muted"}, `${run.info.growing ? "last" : "median"} ${time(length)}`));
    slider.setAttribute("aria-label",
      `Step times${
        whose ? ` of ${whose}`
              : ""}. Arrow keys go from step to step, Page Up and Page Down by ${kPage}.`);
    slider.setAttribute("aria-valuemin", String(steps.number[0]));
    slider.setAttribute("aria-valuemax", String(steps.number[last]));
    this.sayPlace(steps);
  }

  private sayPlace(steps: StepsInfo): void {
    const place = this.place;
    this.slider.setAttribute("aria-valuenow", String(steps.number[place]));
    this.slider.setAttribute("aria-valuetext", stepWords(steps, place).join(", "));
  }

  private y(ns: number): number {
    const top = kTop * this.model.scale;
    const room = this.height - top - kBottom;
    return top + room * (1 - Math.min(1, ns / this.most));
  }

  // What does not count stands apart.
  private ground(): SVGElement {
    const apart = runsOfKind(this.columns).filter(({kind}) => kind !== kSteady);
    return svg("path", {
      class: "apart",
      d: apart.map(({from, to}) => this.box(from * this.barPx, to * this.barPx, 0, this.height))
           .join("")
    });
  }

  private box(left: number, right: number, top: number, bottom: number): string {
    const [x, y] = [left.toFixed(2), top.toFixed(2)];
    return `M${x} ${y}H${right.toFixed(2)}V${bottom.toFixed(2)}H${x}z`;
  }

  // A path a phase draws all bars of it, so that thousands of steps are a dozen elements.
  private bars(): SVGElement[] {
    const {columns, barPx} = this;
    const gap = barPx >= kGapFrom ? 1 : 0;
    const paths = this.colors.map(() => ["", ""]);  // of those that count, and of others
    let [plain, longest] = ["", ""];
    columns.forEach(({phase_ns, duration_ns, longest_ns, kind}, i) => {
      const [left, right] = [i * barPx, (i + 1) * barPx - gap];
      const bar = (from: number, to: number): string =>
        this.box(left, right, this.y(to), this.y(from));
      let below = 0;
      phase_ns.forEach((ns, phase) => {
        if (ns > 0 && below < this.most)
          paths[phase][kind === kSteady ? 0 : 1] += bar(below, below + ns);
        below += ns;
      });
      if (below < duration_ns) plain += bar(below, duration_ns);
      if (longest_ns > duration_ns) longest += bar(duration_ns, longest_ns);
    });
    const path = (d: string, name: string, color = ""): SVGElement =>
      svg("path", {d, class: name, style: color && `fill:${color}`});
    return [
      path(longest, "longest"),
      path(plain, "plain"),
      ...paths.flatMap(([counted, others], i) => [path(counted, "phase", this.colors[i]),
                         path(others, "phase aside", this.colors[i])]),
    ];
  }

  private medianLine(ns: number): SVGElement {
    const y = Math.round(this.y(ns)) + 0.5;
    const end = this.columns.length * this.barPx;
    return svg("line", {class: "median", x1: 0, x2: end, y1: y, y2: y});
  }

  // Above what took unusually long, and above what is cut.
  private marks(): SVGElement[] {
    const {barPx, model: {scale}} = this;
    const half = Math.min(kMarkPx * scale, Math.max(kLeastMarkPx * scale, 0.75 * barPx));
    let [outliers, cut] = ["", ""];
    this.columns.forEach(({longest_ns, has_outlier}, i) => {
      const isCut = longest_ns > this.most * 1.0001;
      if (!has_outlier && !isCut) return;
      const x = (i + 0.5) * barPx;
      const y = this.y(longest_ns) - 2;
      const mark =
        `M${(x - half).toFixed(1)} ${y.toFixed(1)}h${2 * half}l${- half} ${- 1.6 * half}z`;
      if (has_outlier) outliers += mark;
      else cut += mark;
    });
    return [svg("path", {class: "cut", d: cut}), svg("path", {class: "outlier", d: outliers})];
  }

  private columnOf(place: number): number {
    const i = firstEnding(this.columns.map(({last}) => last), place - 1);
    return Math.min(i, this.columns.length - 1);
  }

  // The steps of the picture.
  private markShown(): void {
    const {steps, model, run, barPx, columns} = this;
    if (!steps || columns.length === 0) return;
    const first = firstEnding(steps.to, model.view.from - run.offset);
    const last = firstEnding(steps.from, model.view.to - run.offset - 1) - 1;
    const [from, to] =
      first > last ? [0, 0] : [this.columnOf(first) * barPx, (this.columnOf(last) + 1) * barPx];
    const marked = `${from} ${to}`;
    if (marked === this.marked) return;  // most frames of a move
    this.marked = marked;
    place(this.shown, from, to);
    if (document.activeElement !== this.slider) this.at = -1;
    this.sayPlace(steps);
  }

  // --- going ---

  // Where keys go from: the step gone to last, else the one in the middle of the picture.
  private get place(): number {
    const {steps, model, run, at} = this;
    const last = steps!.count - 1;
    if (at >= 0) return Math.min(at, last);
    const {from, to} = model.view;
    return Math.min(firstEnding(steps!.to, (from + to) / 2 - run.offset), last);
  }

  private listen(): void {
    const {slider} = this;
    const column = (event: PointerEvent): number => {
      const x = event.clientX - slider.getBoundingClientRect().left;
      return Math.min(this.columns.length - 1, Math.max(0, Math.floor(x / this.barPx)));
    };
    const within = (event: PointerEvent): boolean =>
      event.clientX - slider.getBoundingClientRect().left < this.columns.length * this.barPx;
    slider.addEventListener("keydown", (event) => this.key(event));
    slider.addEventListener("pointerdown", (event) => {
      if (event.button !== 0 || !within(event)) return;
      this.from = column(event);
      slider.setPointerCapture(event.pointerId);
    });
    slider.addEventListener("pointermove", (event) => {
      if (this.from >= 0) this.take(this.from, column(event));
      this.hover(within(event) || this.from >= 0 ? column(event) : -1);
    });
    slider.addEventListener("pointerup", (event) => {
      if (this.from >= 0) this.let(this.from, column(event));
      this.from = -1;
    });
    slider.addEventListener("pointercancel", () => {
      this.from = -1;
      this.taken.hidden = true;
    });
    slider.addEventListener("pointerleave", () => this.hover(-1));
    slider.addEventListener("blur", () => {
      this.at = -1;
      this.tip.hidden = true;
    });
  }

  private key(event: KeyboardEvent): void {
    const {steps, place, tip} = this;
    if (event.key === "Escape" && !tip.hidden) {
      tip.hidden = true;
      return event.preventDefault();
    }
    if (!steps || event.altKey || event.ctrlKey || event.metaKey) return;
    const last = steps.count - 1;
    const to: Record<string, number> = {
      ArrowLeft: place - 1,
      ArrowDown: place - 1,
      ArrowRight: place + 1,
      ArrowUp: place + 1,
      PageDown: place - kPage,
      PageUp: place + kPage,
      Home: 0,
      End: last,
      Enter: place,
    };
    if (to[event.key] === undefined) return;
    event.preventDefault();
    this.at = Math.min(last, Math.max(0, to[event.key]));
    this.actions.go(this.run, steps, this.at, this.at, event.key === "Enter");
    this.sayPlace(steps);
    this.hover(this.columnOf(this.at), this.at);
  }

  // Several bars are taken from the first to the last.
  private take(one: number, other: number): void {
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    this.taken.hidden = first === last;
    place(this.taken, first * this.barPx, (last + 1) * this.barPx);
  }

  private let(one: number, other: number): void {
    this.taken.hidden = true;
    const {steps, columns} = this;
    if (!steps) return;
    if (one === other) {
      this.at = longestIn(steps, columns[one]);
      return this.actions.go(this.run, steps, this.at, this.at, true);
    }
    const [first, last] = [Math.min(one, other), Math.max(one, other)];
    this.actions.go(this.run, steps, columns[first].first, columns[last].last, true);
  }

  private hover(column: number, place?: number): void {
    const {steps, tip, slider} = this;
    const bar = this.columns[column];
    tip.hidden = !bar || !steps;
    if (!bar || !steps) return;
    const [name, words] = place === undefined ? columnWords(steps, bar) : stepWords(steps, place);
    tip.replaceChildren(h("b", {}, name), h("span", {}, words), this.madeOf(bar));
    const box = slider.getBoundingClientRect();
    const middle = box.left + (column + 0.5) * this.barPx - tip.offsetWidth / 2;
    tip.style.left = `${Math.max(8, Math.min(middle, window.innerWidth - tip.offsetWidth - 8))}px`;
    tip.style.top = `${box.bottom + kOffPx}px`;
  }

  private madeOf({phase_ns, duration_ns}: ColumnBar): HTMLElement {
    const order = phase_ns.map((_, i) => i)
                    .filter((i) => phase_ns[i] > 0)
                    .sort((a, b) => phase_ns[b] - phase_ns[a])
                    .slice(0, kShownPhases);
    return h("table", {},
      ...order.map(
        (i) => h("tr", {},
          h("td", {}, h("i", {style: `background:${this.colors[i]}`}), this.phases[i].label),
          h("td", {}, time(phase_ns[i])), h("td", {}, percent(phase_ns[i], duration_ns)))));
  }
}

function place(element: HTMLElement, from: number, to: number): void {
  element.style.transform = `translateX(${from.toFixed(1)}px)`;
  element.style.width = `${Math.max(0, to - from).toFixed(1)}px`;
}
