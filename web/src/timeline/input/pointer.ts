// Mouse, wheel and touch on the rows, the ruler and the minimap.
import type {EventAnswer} from "../data/protocol";
import type {Model, RunView} from "../state/model";
import type {Span} from "../state/viewport";
import {clamped, panned, zoomed} from "../state/viewport";
import type {Stage} from "../stage/stage";
import type {Motion} from "./motion";
import type {Edge} from "./snap";
import {snapped} from "./snap";

const kClickPx = 4;  // a drag shorter than this is a click
const kSnapPx = 7;
const kEdgePx = 6;  // how near to an edge of the range it is taken
const kWheelZoom = 0.0022;

export interface PointerActions {
  select(x: number, y: number): void;
  frame(): void;
  hover(x: number, y: number, event: PointerEvent|null): void;
}

// An edge and the run whose events it sticks to.
interface RunEdge extends Edge {
  run: RunView|null;
}

type Drag = {
  kind: "pan"; from: Span; x: number
}|RangeDrag;

interface RangeDrag {
  kind: "range";
  anchor: RunEdge;
  end: RunEdge;
  x: number;
  moved: boolean;
}

export class Pointer {
  private drag: Drag|null = null;
  private readonly touches = new Map < number, {
    x: number;
    y: number
  }
  > ();
  x = -1;  // of the mouse over the rows, -1: not there

  constructor(private readonly model: Model, private readonly stage: Stage,
    private readonly motion: Motion, private readonly actions: PointerActions) {
    const over = stage.over.canvas;
    const {ruler} = stage;
    over.addEventListener("pointerdown", (event) => this.down(event, true));
    ruler.canvas.addEventListener("pointerdown", (event) => this.down(event, false));
    for (const canvas of [over, ruler.canvas]) {
      canvas.addEventListener("pointermove", (event) => this.move(event));
      canvas.addEventListener("pointerup", (event) => this.up(event));
      canvas.addEventListener("pointercancel", (event) => this.up(event));
    }
    over.addEventListener("pointerleave", () => {
      this.x = -1;
      actions.hover(-1, -1, null);
    });
    over.addEventListener("dblclick", () => actions.frame());
    stage.element.addEventListener("wheel", (event) => this.wheel(event), {passive: false});
    this.listenToMinimap();
  }

  private place(event: MouseEvent): {x: number; y: number} {
    const box = this.stage.over.canvas.getBoundingClientRect();
    return {x: event.clientX - box.left, y: event.clientY - box.top};
  }

  private wheel(event: WheelEvent): void {
    const {model} = this;
    const pixels = event.deltaMode === 1 ? 18 : event.deltaMode === 2 ? 400 : 1;
    const sideways = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      const at = model.view.timeAt(this.place(event).x);
      const factor = Math.exp(Math.max(-120, Math.min(120, event.deltaY * pixels)) * kWheelZoom);
      this.motion.jump(zoomed(model.view.span, at, factor, model.whole));
    } else if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      this.motion.jump(
        panned(model.view.span, sideways * pixels * model.view.nsPerPixel, model.whole));
    }
  }

  private down(event: PointerEvent, onRows: boolean): void {
    const {model} = this;
    const at = this.place(event);
    (event.target as HTMLElement).setPointerCapture(event.pointerId);
    if (event.pointerType === "touch") {
      this.touches.set(event.pointerId, at);
      this.drag = null;
      if (this.touches.size === 1 && onRows)
        this.drag = {kind: "pan", from: model.view.span, x: at.x};
      return;
    }
    if (event.button === 1 || (event.button === 0 && event.shiftKey && onRows)) {
      event.preventDefault();
      this.drag = {kind: "pan", from: model.view.span, x: at.x};
    } else if (event.button === 0) {
      const anchor = this.anchorAt(at.x, at.y, event.altKey);
      this.drag = {kind: "range", anchor, end: anchor, x: at.x, moved: false};
    }
  }

  // The far edge of the range if the pointer takes the near one, else the time under it.
  private anchorAt(x: number, y: number, free: boolean): RunEdge {
    const {range, view} = this.model;
    const fixed = (time: number): RunEdge => ({time, of: null, run: null});
    if (range && Math.abs(view.x(range.from) - x) < kEdgePx) return fixed(range.to);
    if (range && Math.abs(view.x(range.to) - x) < kEdgePx) return fixed(range.from);
    return this.snap(x, y, free);
  }

  private move(event: PointerEvent): void {
    const at = this.place(event);
    if (event.pointerType === "touch") return this.moveTouch(event, at);
    this.x = at.x;
    const {drag} = this;
    if (!drag) return this.actions.hover(at.x, at.y, event);
    if (drag.kind === "pan") {
      this.panFrom(drag.from, at.x - drag.x);
    } else if (drag.moved || Math.abs(at.x - drag.x) > kClickPx) {
      drag.moved = true;
      drag.end = this.snap(at.x, at.y, event.altKey);
      this.setRange(drag.anchor.time, drag.end.time);
    }
  }

  private panFrom(from: Span, pixels: number): void {
    const {model, motion} = this;
    motion.jump(panned(from, -pixels * model.view.nsPerPixel, model.whole));
  }

  private setRange(one: number, other: number): void {
    this.model.setRange({from: Math.min(one, other), to: Math.max(one, other)});
  }

  private snap(x: number, y: number, free: boolean): RunEdge {
    const {model, stage} = this;
    const time = model.view.timeAt(x);
    const lane = stage.laneAt(y);
    if (free || !lane || lane.block.track.info?.counter) return {time, of: null, run: null};
    const run = model.runOf(lane.block.track);
    const reach = kSnapPx * model.view.nsPerPixel;
    const own = time - run.offset;
    const layer = stage.itemsOf(lane).find(({from, to}) => from <= own && own <= to);
    const edge = layer ? snapped(layer.data, own, reach) : {time: own, of: null};
    return {time: edge.time + run.offset, of: edge.of, run};
  }

  // The edges to the nanosecond, once the hand has let go.
  private async refine({anchor, end}: RangeDrag): Promise<void> {
    const before = this.model.range;
    const times = await Promise.all([anchor, end].map(async ({time, of, run}) => {
      if (!of || !run) return time;
      const event = await run.source.call<EventAnswer>("event", {ref: of.ref});
      return (of.end ? event.to : event.from) + run.offset;
    }));
    if (this.model.range === before) this.setRange(times[0], times[1]);
  }

  private moveTouch(event: PointerEvent, at: {x: number; y: number}): void {
    const before = this.touches.get(event.pointerId);
    if (!before) return;
    const others =
      [...this.touches].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
    this.touches.set(event.pointerId, at);
    const {model, motion} = this;
    if (others.length === 0) {
      if (this.drag?.kind === "pan") this.panFrom(this.drag.from, at.x - this.drag.x);
      return;
    }
    const [other] = others;
    const wide = Math.abs(before.x - other.x);
    const now = Math.abs(at.x - other.x);
    const middle = model.view.timeAt((before.x + other.x) / 2);
    const moved =
      panned(model.view.span, -((at.x - before.x) / 2) * model.view.nsPerPixel, model.whole);
    motion.jump(wide > 20 && now > 20 ? zoomed(moved, middle, wide / now, model.whole) : moved);
  }

  private up(event: PointerEvent): void {
    const at = this.place(event);
    const touch = this.touches.get(event.pointerId);
    this.touches.delete(event.pointerId);
    const {drag} = this;
    this.drag = null;
    if (drag?.kind === "range" && drag.moved)
      this.refine(drag).catch(() => {});  // the range then ends at a pixel
    if (event.type === "pointercancel" || event.target !== this.stage.over.canvas) return;
    const still = drag && Math.abs(at.x - drag.x) <= kClickPx;
    if (touch ? still : drag?.kind === "range" && !drag.moved) this.actions.select(at.x, at.y);
  }

  private listenToMinimap(): void {
    const {model, motion} = this;
    const {minimap} = this.stage;
    const {canvas} = minimap.layer;
    const go = (event: PointerEvent): void => {
      const middle = minimap.timeAt(event.clientX - canvas.getBoundingClientRect().left);
      const half = (model.view.to - model.view.from) / 2;
      motion.jump(clamped({from: middle - half, to: middle + half}, model.whole));
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      go(event);
    });
    canvas.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) go(event);
    });
  }
}
