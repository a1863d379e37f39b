// The colours of items, worked out once for each answer and not in every frame.
import type {Items} from "../data/items";
import type {Track} from "../data/track";
import type {RunView} from "../state/model";
import type {Inks} from "./inks";
import {fillOf} from "./strips";

export type Matches = ((run: RunView, name: number) => boolean)|null;

export class Fills {
  private known = new WeakMap<Items, Uint32Array>();

  constructor(readonly inks: Inks, readonly matches: Matches) {}

  // After new names, whose colours were not known.
  forget(): void {
    this.known = new WeakMap();
  }

  of(run: RunView, track: Track, items: Items): Uint32Array {
    let fills = this.known.get(items);
    if (!fills) {
      fills = this.make(run, track, items);
      this.known.set(items, fills);
    }
    return fills;
  }

  isDimmed(run: RunView, name: number): boolean {
    return this.matches !== null && !this.matches(run, name);
  }

  private make(run: RunView, track: Track, {count, name, ref, busy}: Items): Uint32Array {
    const {inks} = this;
    const ink = inks.of(run, track);
    const fills = new Uint32Array(count);
    for (let i = 0; i < count; ++i) {
      const one = ink(name[i], ref[i]);
      const color = this.isDimmed(run, name[i]) ? inks.dimmed(one) : one.fill;
      fills[i] = fillOf(color, busy[i], inks.ground);
    }
    return fills;
  }
}
