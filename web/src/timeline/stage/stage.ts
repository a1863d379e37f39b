// The drawing: ruler, minimap, names of tracks and the rows, drawn once a frame and only when
// something changed.
import {h} from "../../dom";
import {sampleAt} from "../data/counter";
import type {Items} from "../data/items";
import {endOf, itemAt, kBeginsBefore, kEndsAfter, startOf} from "../data/items";
import type {RowRange} from "../data/protocol";
import type {Box} from "../draw/strip_canvas";
import {StripCanvas} from "../draw/strip_canvas";
import type {Matches} from "../draw/fills";
import {Fills} from "../draw/fills";
import {Inks} from "../draw/inks";
import {LabelLayer} from "../draw/label_layer";
import type {Lane} from "../state/layout";
import {lanesIn} from "../state/layout";
import {letterScale} from "../state/letters";
import type {Hit, Model, Reading, RunView} from "../state/model";
import {CanvasLayer} from "./canvas_layer";
import {Minimap} from "./minimap";
import {drawOverlay} from "./overlay";
import {drawRuler, rulerHeight} from "./ruler_view";
import {TrackNames} from "./track_names";

const kLetterPx = 11;
const kFont = "system-ui, -apple-system, \"Segoe UI\", Roboto, \"DejaVu Sans\", sans-serif";
const kReachPx = 3;  // how near to a short event the pointer may be
const kAhead = 0.5;  // windows of rows asked for above and below

export class Stage {
  readonly rows = new CanvasLayer("rows", false);
  readonly over = new CanvasLayer("over");
  readonly ruler = new CanvasLayer("ruler");
  readonly minimap: Minimap;
  readonly region: HTMLElement;  // has the focus for keys
  readonly scroller: HTMLElement;
  readonly element: HTMLElement;
  readonly corner: HTMLElement;  // above the names
  inks: Inks;
  lanes: Lane[] = [];
  private fills: Fills;
  private readonly names: TrackNames;
  private readonly strips = new StripCanvas();
  private readonly labels = new LabelLayer();
  private readonly spacer = h("div", {class: "spacer"});
  private readonly window: HTMLElement;
  private frame = 0;
  private dirtyRows = true;

  constructor(readonly model: Model) {
    this.names = new TrackNames(model, () => this.region.focus());
    this.minimap = new Minimap(model);
    this.region = h("div", {
      class: "region",
      tabindex: "0",
      role: "application",
      "aria-roledescription": "timeline",
      "aria-label": "Timeline. Arrow keys go from event to event, question mark lists all keys.",
    },
      this.rows.canvas, this.over.canvas);
    this.window = h("div", {class: "window"}, this.names.element, this.region);
    this.scroller = h("div", {class: "scroller"}, this.window, this.spacer);
    this.corner = h("div", {class: "corner"}, this.names.filter);
    this.element = h("div", {class: "stage"},
      h("div", {class: "time-axis"}, this.corner,
        h("div", {class: "axis"}, this.minimap.layer.canvas, this.ruler.canvas)),
      this.scroller);
    this.inks = new Inks();
    this.fills = new Fills(this.inks, null);
    this.scroller.addEventListener("scroll", () => {
      model.scroll = this.scroller.scrollTop;
      this.names.draw();
      this.redraw();
    });
    model.listen((change) => {
      if (change === "layout" || change === "run") this.arrange();
      if (change === "names" || change === "run") this.fills.forget();
      if (!["view", "hover", "mark", "range"].includes(change)) this.minimap.dirty = true;
      this.redraw(!["hover", "mark", "range", "selection"].includes(change));
    });
    window.addEventListener("resize", () => this.redraw());
    new ResizeObserver(() => this.arrange()).observe(this.scroller);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.newTheme());
    new MutationObserver(() => this.newTheme()).observe(document.documentElement, {
      attributeFilter: ["data-theme"]
    });
  }

  private newTheme(): void {
    this.inks.end();
    this.inks = new Inks();
    this.show(this.fills.matches);
  }

  // What does not match is pale; null: everything matches.
  show(matches: Matches): void {
    this.fills = new Fills(this.inks, matches);
    this.minimap.dirty = true;
    this.redraw();
  }

  private get font(): string {
    return `${kLetterPx * this.model.scale}px ${kFont}`;
  }

  // Letters and rows that can be read in a window of that size.
  private fitLetters(): void {
    const {model, labels} = this;
    const scale = letterScale(window.innerWidth);
    labels.font = `${kLetterPx * scale}px ${kFont}`;
    if (scale === model.scale) return;
    model.scale = scale;
    document.documentElement.style.setProperty("--letters", String(scale));
    model.changed("layout");
  }

  // Fits the canvases to the window.
  private arrange(): void {
    const {model, scroller} = this;
    this.fitLetters();
    const height = scroller.clientHeight;
    const width = Math.max(1, scroller.clientWidth - this.names.element.offsetWidth);
    model.view.width = width;
    this.window.style.height = `${height}px`;
    this.spacer.style.height =
      `${Math.max(0, model.layout.pinnedHeight + model.layout.height - height)}px`;
    if (this.rows.resize(width, height)) {  // black until it is drawn
      this.rows.context.fillStyle = this.inks.page.surface;
      this.rows.context.fillRect(0, 0, this.rows.canvas.width, this.rows.canvas.height);
    }
    this.over.resize(width, height);
    this.ruler.resize(width, rulerHeight(model));
    this.minimap.resize(width);
    model.scroll = scroller.scrollTop;
    this.names.resize(height);
    this.redraw();
  }

  redraw(rows = true): void {
    this.dirtyRows = this.dirtyRows || rows;
    if (this.frame === 0) this.frame = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    this.frame = 0;
    const {model, rows} = this;
    if (window.devicePixelRatio !== rows.scale) return this.arrange();  // moved to another screen
    if (this.dirtyRows) {
      this.dirtyRows = false;
      this.lanes = lanesIn(model.layout, model.scroll, rows.height);
      this.ask();
      this.drawRows();
      this.minimap.draw(this.fills);
    }
    drawOverlay(this.over, model, this.lanes, this.inks);
    drawRuler(this.ruler, model, this.inks, this.font);
  }

  private drawRows(): void {
    const {model, rows, inks} = this;
    const target = rows.context;
    target.setTransform(1, 0, 0, 1, 0, 0);
    const boxes: Box[] = this.strips.draw(target, model, this.lanes, this.fills, rows.scale);
    target.setTransform(rows.scale, 0, 0, rows.scale, 0, 0);
    this.labels.hatch(target, boxes, inks.page.muted);
    this.labels.draw(target, boxes, rows.width);
    this.labels.series(target, this.lanes, inks.page.text, inks.page.surface);
    const {pinnedHeight} = model.layout;
    if (pinnedHeight === 0) return;
    target.fillStyle = inks.page.muted;
    target.fillRect(0, pinnedHeight - 2, rows.width, 0.5);
  }

  // What the last frame drew, for measurements.
  get counts(): {items: number; labels: number; lanes: number} {
    return {items: this.strips.painted, labels: this.labels.drawn, lanes: this.lanes.length};
  }

  private ask(): void {
    const {model, rows} = this;
    const ahead = kAhead * rows.height;
    const near = lanesIn({...model.layout, pinnedHeight: 0, pinned: []}, model.scroll - ahead,
      rows.height + 2 * ahead);
    const wanted = [...this.lanes, ...near];
    for (const run of model.runs) {
      const span = {from: model.view.from - run.offset, to: model.view.to - run.offset};
      run.cache.want(span, model.view.nsPerPixel / rows.scale, rowRanges(wanted, run));
    }
    this.minimap.ask();
  }

  laneAt(y: number): Lane|undefined {
    return this.lanes.find((lane) => y >= lane.top && y < lane.y + lane.height + 1);
  }

  // The event at a place of the rows.
  hitAt(x: number, y: number): Hit|null {
    const lane = this.laneAt(y);
    if (!lane || lane.block.track.info?.counter) return null;
    const {view} = this.model;
    return this.hitIn(lane, view.timeAt(x), kReachPx * view.nsPerPixel);
  }

  // The counter at a place of the rows; null: there is an event's row.
  readingAt(x: number, y: number): Reading|null {
    const lane = this.laneAt(y);
    const track = lane?.block.track.info;
    if (!lane || !track?.counter) return null;
    const {model, rows} = this;
    const {view} = model;
    const run = model.runOf(lane.block.track);
    const time = view.timeAt(x);
    const own = time - run.offset;
    const span = {from: view.from - run.offset, to: view.to - run.offset};
    const layer = run.cache.samplesOf(track.id, lane.depth, span, view.nsPerPixel / rows.scale)
                    .find(({from, to}) => from <= own && own <= to);
    const sample = layer ? sampleAt(layer.data, own) : null;
    return {run, track, row: lane.depth, time, sample};
  }

  hitIn(lane: Lane, time: number, reach: number): Hit|null {
    const run = this.model.runOf(lane.block.track);
    const layer =
      this.itemsOf(lane).find(({from, to}) => from <= time - run.offset && time - run.offset <= to);
    if (!layer) return null;
    const item = itemAt(layer.data, time - run.offset, reach);
    return item < 0 ? null : hitOf(run, lane, layer.data, item);
  }

  itemsOf(lane: Lane): {data: Items; from: number; to: number}[] {
    const {model, rows} = this;
    const run = model.runOf(lane.block.track);
    const span = {from: model.view.from - run.offset, to: model.view.to - run.offset};
    return run.cache.itemsOf(
      lane.block.track.info!.id, lane.depth, span, model.view.nsPerPixel / rows.scale);
  }

  // Scrolls until a row of a track is in the window.
  scrollTo(id: number, depth: number): void {
    const {model, scroller} = this;
    if (model.layout.pinned.some(({track}) => track.id === id)) return;
    const block = model.layout.blocks.find(({track}) => track.id === id);
    if (!block) return;
    const top = block.top + Math.min(depth, Math.max(0, block.rows - 1)) * block.rowHeight;
    const room = scroller.clientHeight - model.layout.pinnedHeight;
    if (top < scroller.scrollTop || top + 2 * block.rowHeight > scroller.scrollTop + room)
      scroller.scrollTop = Math.max(0, top - room / 3);
  }
}

// Of an event of which the answer has a part, its own times as soon as they are known.
function timesOf(run: RunView, items: Items, item: number): Pick<Hit, "from"|"to"|"cut"|"step"> {
  const {step} = items;
  const cut = (items.flags[item] & (kBeginsBefore | kEndsAfter)) !== 0;
  const one = items.merged[item] === 1;
  const own = cut && one ? run.times.of(items.ref[item]) : undefined;
  const {from, to} = own ?? {from: startOf(items, item), to: endOf(items, item)};
  return {from: from + run.offset, to: to + run.offset, cut: cut && !own, step: own ? 1 : step};
}

export function hitOf(run: RunView, lane: Lane, items: Items, item: number): Hit {
  return {
    run,
    track: lane.block.track,
    depth: lane.depth,
    ref: items.ref[item],
    name: items.name[item],
    merged: items.merged[item],
    flags: items.flags[item],
    ...timesOf(run, items, item),
  };
}

function rowRanges(lanes: readonly Lane[], run: RunView): RowRange[] {
  const ends = new Map<number, [number, number]>();
  for (const {block: {track}, depth} of lanes) {
    if (track.run !== run.index || !track.info) continue;
    const range = ends.get(track.info.id);
    if (!range) ends.set(track.info.id, [depth, depth + 1]);
    else ends.set(track.info.id, [Math.min(range[0], depth), Math.max(range[1], depth + 1)]);
  }
  return [...ends].map(([track, [first, end]]) => [track, first, end - first]);
}
