// Follows a run that goes on, tracks that are worked out after the first picture, and whether the
// server still answers. Asks while the page is visible, and of a run that is complete only while
// somebody uses it: a page that is left open keeps no server from ending by itself (--idle).
import type {Connection} from "./data/connection";
import {eventAgain} from "./data/event_again";
import {tracksOfAll, wholeOfAll} from "./data/open_run";
import type {EventAnswer, RunAnswer, StatusAnswer} from "./data/protocol";
import type {CallError} from "./data/source";
import type {Motion} from "./input/motion";
import type {Model, RunView} from "./state/model";

const kGrowingMs = 1000;
const kGoneMs = 2000;
const kCompleteMs = 5000;
const kUsedMs = 60_000;  // how long a page counts as used after the last key or move
const kChanged = {
  replaced:
    "was changed or replaced since it was read. What is shown is what it was before, and notes " +
    "are not saved: start batchlight view anew to see what it is now.",
  removed: "is no longer there. What is shown was read before, and notes are not saved.",
};
const kAtEnd = 0.98;  // of the run: who looks at its end goes along with it

export class Live {
  private timer = 0;
  private used = performance.now();
  private missed = false;  // the server was gone since the last look

  constructor(private readonly model: Model, private readonly motion: Motion,
    private readonly connection: Connection,
    private readonly say: (text: string, kind?: string) => void, private readonly onNew: () => void,
    private readonly onNotes: (run: RunView, stamp: string) => void) {
    if (model.first.source.isStatic) return;
    document.addEventListener("visibilitychange", () => this.later());
    for (const event of ["pointermove", "keydown", "focus"])
      window.addEventListener(event, () => this.use(), {passive: true});
    connection.listen((reach) => {
      if (reach !== "there") this.missed = true;
      this.later();
    });
    this.later();
  }

  private get over(): boolean {
    return this.model.runs.every(({info}) => info.complete && !info.growing);
  }

  private use(): void {
    this.used = performance.now();
    if (this.timer === 0) this.later();
  }

  private later(): void {
    clearTimeout(this.timer);
    this.timer = 0;
    const left = this.over && performance.now() - this.used > kUsedMs;
    if (document.hidden || left || this.connection.over) return;
    const wait = this.connection.gone ? kGoneMs : this.over ? kCompleteMs : kGrowingMs;
    this.timer = window.setTimeout(() => void this.look(), wait);
  }

  private async look(): Promise<void> {
    try {
      const {runs} = await this.model.first.source.call<StatusAnswer>("status");
      const old =
        this.model.runs.filter(({index, info}) => runs[index].generation !== info.generation);
      if (old.length > 0 || this.missed) await this.renew();
      this.missed = false;
      for (const run of this.model.runs) this.onNotes(run, runs[run.index].notes ?? "");
      this.tellChanges(runs);
    } catch (error) {
      if ((error as CallError).code !== "gone") this.say((error as Error).message);
    }
    this.later();
  }

  // What is shown was read from a file that is no more.
  private tellChanges(runs: StatusAnswer["runs"]): void {
    runs.forEach(({source, changed = ""}, i) => {
      const words = changed && `${source} ${kChanged[changed]}`;
      this.say(words, `changed-${i}`);
    });
  }

  // Reads anew what the runs are; also after the server said that an answer is of an older state.
  async renew(): Promise<void> {
    const {model, motion} = this;
    for (const run of model.runs) {
      if (run.source.isStatic) continue;
      run.renew(await run.source.call<RunAnswer>("run", {generation: undefined}));
    }
    // Only now: the reader, or another question that heard the same, may have moved meanwhile.
    const atEnd = motion.goal.to >= model.whole.from + kAtEnd * (model.whole.to - model.whole.from);
    const wasWhole = motion.goal.from <= model.whole.from && atEnd;
    const before = model.whole.to;
    model.renewTracks(tracksOfAll(model.runs));
    model.whole = wholeOfAll(model.runs);
    if (wasWhole) motion.to(model.whole);
    else if (atEnd && model.whole.to > before) {
      const {from, to} = motion.goal;
      motion.to({from: from + model.whole.to - before, to: to + model.whole.to - before});
    }
    model.changed("layout");
    model.changed("run");
    this.onNew();
    await this.selectAgain();
    this.later();
  }

  // The selected event may have another number now; where it is not there any more it is let go.
  private async selectAgain(): Promise<void> {
    const {model} = this;
    const {selected} = model;
    if (!selected || selected.run.source.isStatic) return;
    const {run, event: old} = selected;
    let event: EventAnswer|null;
    try {
      event = await eventAgain(run.source, old);
    } catch {
      return;  // it was read once more meanwhile: the next look finds it
    }
    if (model.selected !== selected) return;
    model.selected = event && {run, event};
    model.links = [];
    model.changed(event ? "hover" : "selection");
  }
}
