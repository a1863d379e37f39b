// Names by id. They come in pieces, when something on the screen needs them.
import {colorOfName} from "../draw/colors";
import {kNoName} from "./protocol";
import type {NamesAnswer} from "./protocol";
import type {Source} from "./source";

const kMost = 10_000;  // ids in a request

export class Names {
  private readonly texts = new Map<number, string>();
  private readonly labels = new Map<number, string>();
  private readonly colors = new Map<number, number>();
  private readonly wanted = new Set<number>();
  private asking = false;

  constructor(private readonly source: Source, private readonly onNew: () => void) {}

  // As it is shown; undefined: not here yet, it is asked for.
  label(id: number): string|undefined {
    return this.labels.get(id) ?? this.get(id);
  }

  // The whole name.
  get(id: number): string|undefined {
    if (id === kNoName) return "";
    const text = this.texts.get(id);
    if (text === undefined && !this.wanted.has(id)) {
      this.wanted.add(id);
      if (!this.asking) void this.ask();
    }
    return text;
  }

  // Ids hold for one generation of a run.
  clear(): void {
    for (const map of [this.texts, this.labels, this.colors]) map.clear();
    this.wanted.clear();
  }

  private add(id: number, text: string, label: string|undefined): void {
    this.texts.set(id, text);
    if (label !== undefined) this.labels.set(id, label);
    this.colors.set(id, colorOfName(label ?? text));
  }

  // The number of the name's colour.
  color(id: number): number {
    const color = this.colors.get(id);
    if (color !== undefined) return color;
    this.get(id);
    return 0;
  }

  private async ask(): Promise<void> {
    this.asking = true;
    await Promise.resolve();  // the ids of a whole frame in one request
    while (this.wanted.size > 0) {
      const ids = [...this.wanted].slice(0, kMost);
      try {
        const {names, labels} = await this.source.call<NamesAnswer>("names", {ids});
        ids.forEach((id, i) => this.add(id, names[i] ?? "", labels?.[i]));
      } catch {
        break;  // asked again when something needs them
      } finally {
        for (const id of ids) this.wanted.delete(id);
      }
      this.onNew();
    }
    this.asking = false;
  }
}
