// The whole times of events of which an answer to `view` has a part: it tells only where it ends.
// They are asked for when something on the screen needs them.
import type {Ref} from "./protocol";
import type {Source} from "./source";

export type OwnTime = {
  from: number; to: number
};

const kMost = 10_000;  // refs in a request

export class OwnTimes {
  private times = new Map<Ref, OwnTime|null>();
  private wanted = new Set<Ref>();
  private asking: Promise<void>|null = null;

  constructor(private readonly source: Source, private readonly onNew: () => void) {}

  // By the run's clock; undefined: not here yet, it is asked for.
  of(ref: Ref): OwnTime|undefined {
    const time = this.times.get(ref);
    if (time === undefined) {
      this.wanted.add(ref);
      this.asking ??= this.ask();
    }
    return time ?? undefined;
  }

  // When all that was asked for is here.
  async settle(): Promise<void> {
    await this.asking;
  }

  // Refs hold for one generation of a run.
  clear(): void {
    this.times = new Map();
    this.wanted = new Set();
  }

  private async ask(): Promise<void> {
    await Promise.resolve();  // those of a whole frame in one request
    while (this.wanted.size > 0) {
      const {times, wanted} = this;
      const refs = [...wanted].slice(0, kMost);
      try {
        const answer =
          await this.source.call<{times: ([number, number] | null)[]}>("times", {refs});
        answer.times.forEach((time, i) => times.set(refs[i], time && {from: time[0], to: time[1]}));
      } catch {
        break;  // asked again when something needs them
      } finally {
        for (const ref of refs) wanted.delete(ref);
      }
      this.onNew();
    }
    this.asking = null;
  }
}
