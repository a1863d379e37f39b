// The colours of the page as pixels, for the theme that is on.
import type {PaletteEntry} from "../data/protocol";
import type {RunView} from "../state/model";
import type {Track} from "../data/track";
import {seriesColor, seriesNumbers} from "../../palette";
import type {Ink} from "./colors";
import {inkOf, nameInks, packed} from "./colors";
import {mix} from "./strips";

export interface PageColors {
  ground: string;
  surface: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  bad: string;
}

const kDimmed = 60;  // of 255: what a search did not find

export class Inks {
  readonly page: PageColors;
  readonly ground: number;
  readonly dark: boolean;
  private readonly probe: HTMLElement;
  private readonly pixel: CanvasRenderingContext2D;
  private readonly names: Ink[];
  private readonly palettes = new Map<PaletteEntry[], Map<number, Ink>>();

  constructor() {
    this.probe = document.createElement("i");
    this.probe.hidden = true;
    document.documentElement.append(this.probe);  // elsewhere it would have no style yet
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = 1;
    this.pixel = canvas.getContext("2d", {willReadFrequently: true})!;
    const css = (name: string): string => this.computed(`var(--${name})`);
    this.page = {
      ground: css("ground"),
      surface: css("surface"),
      text: css("text"),
      muted: css("muted"),
      line: css("line"),
      accent: css("accent"),
      bad: css("bad"),
    };
    this.ground = this.packed("var(--surface)");
    this.dark = (this.ground & 255) < 128;
    this.names = nameInks(this.dark);
    this.accent = this.packed("var(--accent)");
    this.area = mix(this.ground, this.accent, 90);
    this.stepInks =
      ["--share", "--bar"].map((name) => inkOf(mix(this.ground, this.packed(`var(${name})`), 200)));
  }

  readonly accent: number;
  readonly area: number;  // below the line of a counter
  private readonly stepInks: Ink[];

  // Drops what it put into the page.
  end(): void {
    this.probe.remove();
  }

  private computed(color: string): string {
    this.probe.style.color = color;
    return getComputedStyle(this.probe).color;
  }

  private packed(color: string): number {
    this.pixel.fillStyle = this.computed(color);
    this.pixel.fillRect(0, 0, 1, 1);
    const [r, g, b] = this.pixel.getImageData(0, 0, 1, 1).data;
    return packed([r, g, b]);
  }

  // How the items of a track are coloured, by the id of their name.
  of(run: RunView, track: Track): (name: number, ref: number) => Ink {
    const palette = track.info?.palette ?? "name";
    if (palette === "step") return (_, ref) => this.stepInks[ref & 1];
    const entries = run.info.palettes[palette];
    if (!entries) return (name) => this.names[run.names.color(name)];
    const inks = this.inksOf(entries);
    return (name) => inks.get(name) ?? this.names[run.names.color(name)];
  }

  private inksOf(entries: PaletteEntry[]): Map<number, Ink> {
    let inks = this.palettes.get(entries);
    if (!inks) {
      const series = seriesNumbers(entries.map(({key}) => key));
      inks = new Map(
        entries.map(({name, idle}, i) => [name, inkOf(this.packed(seriesColor(series[i], idle)))]));
      this.palettes.set(entries, inks);
    }
    return inks;
  }

  dimmed(ink: Ink): number {
    return mix(this.ground, ink.fill, kDimmed);
  }
}
