// What changes without new rows: the event under the pointer, the selected one and its links, the
// range, marks.
import type {Inks} from "../draw/inks";
import type {Lane} from "../state/layout";
import type {Model, RunView} from "../state/model";
import {trackId} from "../data/track";
import type {CanvasLayer} from "./canvas_layer";
import {markInk} from "./ruler_view";

export function drawOverlay(
  layer: CanvasLayer, model: Model, lanes: readonly Lane[], inks: Inks): void {
  const {view, selected, hover} = model;
  const empty = !selected && !hover && !model.mark && !model.range && model.notes.length === 0;
  if (empty && layer.empty) return;  // a canvas that does not change costs nothing
  const target = layer.clear();
  layer.empty = empty;
  layer.hide();
  if (empty) return;
  for (const note of model.notes)
    line(target, view.x(model.spanOfNote(note).from), layer.height, inks.page.bad, [2, 3]);
  if (model.mark) shade(target, model, model.mark, layer, markInk(model, inks));
  if (model.range) shade(target, model, model.range, layer, inks.page.accent);
  if (hover) outline(target, model, lanes, {...hover, track: hover.track.id}, inks.page.text, 1);
  if (!selected) return;
  const {run, event} = selected;
  const place = {
    track: trackId(run.index, event.track ?? -1),
    depth: event.depth,
    from: event.from + run.offset,
    to: event.to + run.offset,
  };
  outline(target, model, lanes, place, inks.page.text, 2);
  drawLinks(target, model, run, lanes, inks);
}

interface Place {
  track: number;
  depth: number;
  from: number;
  to: number;
}

function laneOf(lanes: readonly Lane[], track: number, depth: number): Lane|undefined {
  const own = lanes.filter(({block}) => block.track.id === track);
  return own.find((lane) => lane.depth === depth) ?? own.find(({block}) => !block.open);
}

function outline(target: CanvasRenderingContext2D, model: Model, lanes: readonly Lane[],
  place: Place, color: string, width: number): void {
  const {view} = model;
  for (const lane of lanes) {
    if (lane.block.track.id !== place.track || lane.depth !== place.depth) continue;
    const left = Math.max(-4, view.x(place.from));
    const right = Math.min(view.width + 4, Math.max(view.x(place.to), left + 2));
    target.strokeStyle = color;
    target.lineWidth = width;
    target.strokeRect(
      left - width / 2, lane.y - width / 2, right - left + width - 1, lane.height + width);
  }
}

function shade(target: CanvasRenderingContext2D, model: Model,
  {from, to}: {from: number; to: number}, layer: CanvasLayer, color: string): void {
  const [left, right] = [model.view.x(from), model.view.x(to)];
  target.fillStyle = color;
  target.globalAlpha = 0.13;
  target.fillRect(left, 0, right - left, layer.height);
  target.globalAlpha = 1;
  line(target, left, layer.height, color, []);
  line(target, right, layer.height, color, []);
}

function line(target: CanvasRenderingContext2D, x: number, height: number, color: string,
  dash: number[]): void {
  target.strokeStyle = color;
  target.lineWidth = 1;
  target.setLineDash(dash);
  target.beginPath();
  target.moveTo(Math.round(x) + 0.5, 0);
  target.lineTo(Math.round(x) + 0.5, height);
  target.stroke();
  target.setLineDash([]);
}

// Curves from calls to the work that they launched, from forward to backward, between ranks.
function drawLinks(target: CanvasRenderingContext2D, model: Model, run: RunView,
  lanes: readonly Lane[], inks: Inks): void {
  const {view} = model;
  target.strokeStyle = inks.page.accent;
  target.fillStyle = inks.page.accent;
  target.lineWidth = 1.5;
  for (const {from, to} of model.links) {
    const begin = laneOf(lanes, trackId(run.index, from.track ?? -1), from.depth);
    const end = laneOf(lanes, trackId(run.index, to.track ?? -1), to.depth);
    if (!begin || !end) continue;
    const [x0, x1] = [view.x(from.at + run.offset), view.x(to.at + run.offset)];
    const [y0, y1] = [begin.y + begin.height / 2, end.y + end.height / 2];
    const bend = Math.max(24, Math.abs(x1 - x0) / 3);
    target.beginPath();
    target.moveTo(x0, y0);
    target.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    target.stroke();
    target.beginPath();
    target.moveTo(x1, y1);
    target.lineTo(x1 - 6, y1 - 3.5);
    target.lineTo(x1 - 6, y1 + 3.5);
    target.fill();
  }
}
