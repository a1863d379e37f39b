// Follows a run that goes on, and tracks that are worked out after the first picture: asks once a
// second while the page is visible, and never otherwise.
import {tracksOfAll, wholeOfAll} from "./data/open_run";
import type {RunAnswer, StatusAnswer} from "./data/protocol";
import type {Motion} from "./input/motion";
import type {Model} from "./state/model";

const kPollMs = 1000;
const kAtEnd = 0.98;  // of the run: who looks at its end goes along with it

export class Live {
  private timer = 0;

  constructor(private readonly model: Model, private readonly motion: Motion,
    private readonly say: (text: string) => void, private readonly onNew: () => void) {
    if (model.first.source.isStatic) return;
    document.addEventListener("visibilitychange", () => this.later());
    this.later();
  }

  private get over(): boolean {
    return this.model.runs.every(({info}) => info.complete && !info.growing);
  }

  private later(): void {
    clearTimeout(this.timer);
    if (!document.hidden && !this.over)
      this.timer = window.setTimeout(() => void this.look(), kPollMs);
  }

  private async look(): Promise<void> {
    try {
      const {runs} = await this.model.first.source.call<StatusAnswer>("status");
      const old =
        this.model.runs.filter(({index, info}) => runs[index].generation !== info.generation);
      if (old.length > 0) await this.renew();
      this.later();
    } catch (error) {
      this.say((error as Error).message);
    }
  }

  // Reads anew what the runs are; also after the server said that an answer is of an older state.
  async renew(): Promise<void> {
    const {model, motion} = this;
    const atEnd = motion.goal.to >= model.whole.from + kAtEnd * (model.whole.to - model.whole.from);
    const wasWhole = motion.goal.from <= model.whole.from && atEnd;
    const before = model.whole.to;
    for (const run of model.runs) {
      if (run.source.isStatic) continue;
      run.renew(await run.source.call<RunAnswer>("run", {generation: undefined}));
    }
    model.tracks = tracksOfAll(model.runs);
    model.whole = wholeOfAll(model.runs);
    if (wasWhole) motion.to(model.whole);
    else if (atEnd && model.whole.to > before) {
      const {from, to} = motion.goal;
      motion.to({from: from + model.whole.to - before, to: to + model.whole.to - before});
    }
    model.changed("layout");
    model.changed("run");
    this.onNew();
    this.later();
  }
}
