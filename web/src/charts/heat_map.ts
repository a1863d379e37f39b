// A heat map of ranks: a line for each rank, or for several of which the worst shows. Hovering or
// the arrow keys read its values; as a table it opens for those who do not see it.
import {h, svg} from "../dom";
import {fixed, time} from "../format";
import type {RankMapData, RankMapsData} from "../rank_maps_data";
import {kShades, labelled, lineHeight, pathsOf, shadeOf} from "./heat_layout";
import {placeTip, tipBox} from "./tip";

export class HeatMap {
  readonly element: HTMLElement;
  private readonly canvas: SVGSVGElement;
  private readonly cursor = svg("rect", {class: "heat-cursor", width: 0, height: 1});
  private readonly tip = tipBox();
  private readonly columnNames: HTMLElement;
  private readonly plot: HTMLElement;
  private readonly height: number;
  private line = 0;
  private column = 0;

  constructor(private readonly job: RankMapsData, private readonly map: RankMapData,
    private readonly title: string) {
    const [columns, lines] = [map.columns.length, job.lines.length];
    this.height = lineHeight(lines) * lines;
    this.canvas = svg(
      "svg",
      {
        class: "heat",
        tabindex: "0",
        role: "group",
        "aria-label": `${title}. Arrow keys read values; the table below has all of them.`,
        viewBox: `0 0 ${columns} ${lines}`,
        preserveAspectRatio: "none",
        style: `height:${this.height}px`,
      },
      ...pathsOf(map.share).map(
        (d, i) => d && svg("path", {d, style: `fill:var(--heat-${i + 1})`})),
      this.cursor,
    );
    const longest = Math.max(...map.columns.map((name) => name.length));
    const room = map.key === "phase" ? Math.min(8.5, 1 + 0.46 * longest)
                                     : 1.4;  // names of phases stand upright
    this.columnNames =
      h("div", {class: "heat-columns", "aria-hidden": "true", style: `height:${room}rem`});
    this.plot = h("div", {class: "heat-plot"}, this.lineNames(), this.canvas, this.tip);
    this.element =
      h("div", {class: `heat-map by-${map.key}`}, this.columnNames, this.plot, this.table());
    this.listen();
    new ResizeObserver(() => this.nameColumns()).observe(this.canvas);
  }

  private lineNames(): HTMLElement {
    const {lines} = this.job;
    const names = labelled(lines.length, this.height / lines.length, 16).map((row) => {
      const at = (100 * (row + 0.5)) / lines.length;
      return h("span", {style: `top:${at}%`, title: lines[row]}, lines[row]);
    });
    return h("div", {class: "heat-lines", "aria-hidden": "true"}, ...names);
  }

  private nameColumns(): void {
    const {columns} = this.map;
    const width = this.canvas.getBoundingClientRect().width;
    const room = this.map.key === "phase" ? 16 : 48;
    const names = labelled(columns.length, Math.max(1, width) / columns.length, room).map((row) => {
      const at = (100 * (row + 0.5)) / columns.length;
      return h("span", {style: `left:${at}%`, title: columns[row]}, columns[row]);
    });
    this.columnNames.replaceChildren(...names);
  }

  private columnName(column: number): string {
    const name = this.map.columns[column];
    if (this.map.key === "phase") return name;
    const {steps_per_column: steps} = this.job;
    return steps === 1 ? `step ${name}` : `${steps} steps from ${name} on`;
  }

  private rankName(line: number, column: number): string {
    const worst = this.map.worst?.[line][column];
    const name = String(worst === undefined ? this.job.lines[line] : this.job.ranks[worst]);
    return /^\d/.test(name) ? `rank ${name}` : name;  // "process 4711"
  }

  // --- reading -----------------------------------------------------------------------------------

  private listen(): void {
    const {canvas} = this;
    canvas.addEventListener("pointermove", (event) => {
      const box = canvas.getBoundingClientRect();
      const at = (offset: number, size: number, count: number): number =>
        Math.max(0, Math.min(count - 1, Math.floor((offset * count) / size)));
      this.read(at(event.clientY - box.top, box.height, this.job.lines.length),
        at(event.clientX - box.left, box.width, this.map.columns.length));
    });
    canvas.addEventListener("pointerleave", () => this.hide());
    canvas.addEventListener("blur", () => this.hide());
    canvas.addEventListener("focus", () => this.read(this.line, this.column));
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") return this.hide();
    const steps: Record<string, [number, number]> =
      {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};
    const step = steps[event.key];
    if (!step) return;
    event.preventDefault();
    const within = (value: number, count: number): number =>
      Math.max(0, Math.min(count - 1, value));
    this.read(within(this.line + step[0], this.job.lines.length),
      within(this.column + step[1], this.map.columns.length));
  }

  private hide(): void {
    this.tip.classList.remove("shown");
    this.cursor.setAttribute("width", "0");
  }

  private read(line: number, column: number): void {
    [this.line, this.column] = [line, column];
    const share = this.map.share[line][column];
    const folded =
      this.map.worst ? h("div", {class: "muted"}, `most of ranks ${this.job.lines[line]}`) : "";
    this.tip.replaceChildren(
      h("div", {class: "tip-title"}, h("b", {}, this.rankName(line, column)),
        h("b", {}, this.valueText(share))),
      h("div", {class: "muted"}, this.columnName(column)),
      share === null ? ""
                     : h("div", {class: "muted"},
                         `${time(Math.abs(share) * this.job.step_ns / 1e4)} ${
                           share < 0 ? "less" : "more"} than the rank in the middle`),
      folded,
    );
    this.tip.classList.add("shown");
    for (const [name, value] of Object.entries({x: column, y: line, width: 1}))
      this.cursor.setAttribute(name, String(value));
    this.placeTip(line, column);
  }

  private placeTip(line: number, column: number): void {
    const box = this.canvas.getBoundingClientRect();
    const plot = this.plot.getBoundingClientRect();
    const x = box.left - plot.left + (box.width * (column + 0.5)) / this.map.columns.length;
    placeTip(this.tip, x, plot.width);
    this.tip.style.top = `${(this.height * (line + 1)) / this.job.lines.length + 6}px`;
  }

  private valueText(share: number|null): string {
    return share === null ? "no step" : `${share > 0 ? "+" : ""}${fixed(share / 100, 2)} %`;
  }

  // --- as a table --------------------------------------------------------------------------------

  // Built when it is opened: thousands of cells.
  private table(): HTMLElement {
    const details = h("details", {class: "heat-table"}, h("summary", {}, "As a table"));
    details.addEventListener("toggle", () => {
      if (details.open && details.children.length === 1) details.append(this.makeTable());
    });
    return details;
  }

  private makeTable(): HTMLElement {
    const {columns, share} = this.map;
    const head = columns.map((_, column) => h("th", {scope: "col"}, this.columnName(column)));
    const rows = share.map((line, row) => {
      const cells = line.map((value) => {
        const shade = shadeOf(value);
        return h("td", {class: shade < 0 ? "muted" : ""}, this.valueText(value));
      });
      return h("tr", {}, h("th", {scope: "row"}, this.job.lines[row]), ...cells);
    });
    const caption = this.map.worst ? ", of each line of ranks the one that takes most" : "";
    return h(
      "div",
      {class: "scroll", tabindex: "0", role: "region", "aria-label": this.title},
      h("table", {},
        h("caption", {}, `${this.title}: more of a step than the rank in the middle${caption}`),
        h("thead", {},
          h("tr", {}, h("th", {scope: "col"}, this.map.worst ? "Ranks" : "Rank"), ...head)),
        h("tbody", {}, ...rows)),
    );
  }
}

export function heatLegend(): HTMLElement {
  const shades = kShades.map(
    ({text}, i) =>
      h("span", {}, h("i", {class: "chip", style: `background:var(--heat-${i + 1})`}), text));
  return h("div", {class: "legend"}, ...shades,
    h("span", {class: "muted"}, "of a step more than the rank in the middle"));
}
