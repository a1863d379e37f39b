// The tree of nn.Modules with the time of each: as a flame graph, and as a treegrid that opens
// branch by branch.
import type { Modules, PageData } from "../data";
import { h, longName } from "../dom";
import { count, decimalsFor, fixed, scaleFor } from "../format";
import type { Scale } from "../format";
import { maximum } from "../statistics";
import { FlameGraph } from "../charts/flame_graph";
import { choice } from "./choice";
import { section } from "./section";

export function moduleView(page: PageData): HTMLElement | null {
  const { modules } = page;
  if (!modules || modules.path.length === 0) return null;
  const lead = modules.per_step
    ? "Time of every nn.Module per step; a module's total includes the modules inside."
    : "Time of every nn.Module in the whole run; a module's total includes the modules inside.";
  return section("modules", "Modules", lead, ...flame(modules), new ModuleTree(modules).element);
}

// The name of a module without that of the module it is part of.
function shortName(modules: Modules, row: number): string {
  const { path, parent } = modules;
  const prefix = parent[row] < 0 ? "" : `${path[parent[row]]}.`;
  return path[row].startsWith(prefix) ? path[row].slice(prefix.length) : path[row];
}

function flame(modules: Modules): Node[] {
  const sum = (a: number[], b: number[]): number[] => a.map((value, row) => value + b[row]);
  const graph = (label: string, value_ns: number[]): Node =>
    new FlameGraph({
      label,
      name: modules.path.map((_, row) => shortName(modules, row)),
      title: modules.path,
      parent: modules.parent,
      value_ns,
    }).element;
  const what = modules.has_backward ? "forward and backward" : "forward";
  const kinds = [`CPU time, ${what}`];
  const values = [sum(modules.forward_ns, modules.backward_ns)];
  if (modules.has_gpu) {
    kinds.push("GPU time, forward and backward");
    values.push(sum(modules.gpu_forward_ns, modules.gpu_backward_ns));
  }
  const box = h("div");
  const show = (kind: number): void => box.replaceChildren(graph(kinds[kind], values[kind]));
  const buttons = choice("Time", ["CPU", "GPU"].slice(0, kinds.length), 0, show);
  show(0);
  return buttons ? [buttons, box] : [box];
}

class ModuleTree {
  readonly element: HTMLElement;
  private readonly children: number[][];
  private readonly roots: number[] = [];
  private readonly open = new Set<number>();
  private readonly body = h("tbody");
  private readonly scale: Scale;
  private readonly decimals: number;

  constructor(private readonly modules: Modules) {
    this.children = modules.path.map(() => []);
    modules.parent.forEach((parent, row) => {
      (parent < 0 ? this.roots : this.children[parent]).push(row);
    });
    const largest = maximum(modules.forward_ns.concat(modules.backward_ns));
    this.scale = scaleFor("ns", largest);
    this.decimals = decimalsFor(largest / this.scale.factor, 5);
    this.openFirstBranches();
    this.element = h(
      "div",
      { class: "table" },
      h("div", { class: "table-tools" }, this.tool("Open all", true), this.tool("Close all", false)),
      h(
        "div",
        { class: "scroll" },
        h("table", { role: "treegrid", "aria-label": "Modules" }, this.head(), this.body),
      ),
      modules.left_out > 0
        ? h("p", { class: "muted" }, `${count(modules.left_out)} more modules are in modules.csv.`)
        : null,
    );
    this.draw();
  }

  // Open from the root until a level has several modules to compare.
  private openFirstBranches(): void {
    let level = this.roots;
    while (level.length > 0) {
      level.forEach((row) => this.open.add(row));
      if (level.length > 1) break;
      level = this.children[level[0]];
    }
  }

  private tool(label: string, open: boolean): HTMLElement {
    const button = h("button", { type: "button", class: "quiet" }, label);
    button.addEventListener("click", () => {
      this.open.clear();
      if (open) this.children.forEach((_, row) => this.open.add(row));
      this.draw();
    });
    return button;
  }

  private head(): HTMLElement {
    const unit = this.scale.unit;
    const names = [`Forward (${unit})`, `Self (${unit})`];
    if (this.modules.has_backward) names.push(`Backward (${unit})`);
    if (this.modules.per_step) names.push("Of the step");
    if (this.modules.has_gpu) names.push("GPU, whole run (ms)");
    names.push("Calls");
    const cells = names.map((name) => h("th", { scope: "col", class: "real" }, name));
    return h("thead", {}, h("tr", {}, h("th", { scope: "col", class: "text" }, "Module"), ...cells));
  }

  private draw(focus = -1): void {
    const rows: HTMLElement[] = [];
    const add = (row: number, level: number): void => {
      rows.push(this.row(row, level));
      if (this.open.has(row)) this.children[row].forEach((child) => add(child, level + 1));
    };
    this.roots.forEach((row) => add(row, 1));
    this.body.replaceChildren(...rows);
    if (focus >= 0) this.body.querySelector<HTMLElement>(`[data-row="${focus}"] button`)?.focus();
  }

  private row(row: number, level: number): HTMLElement {
    const { modules } = this;
    const ns = (value: number): HTMLElement =>
      h("td", { class: "real" }, fixed(value / this.scale.factor, this.decimals));
    const share = 100 * modules.share[row];
    const hasChildren = this.children[row].length > 0;
    const expanded = hasChildren ? String(this.open.has(row)) : null;
    return h(
      "tr",
      { "aria-level": level, "aria-expanded": expanded, "data-row": row },
      h("th", { scope: "row", class: "text", style: `--level:${level - 1}` }, this.label(row)),
      ns(modules.forward_ns[row]),
      ns(modules.forward_self_ns[row]),
      modules.has_backward ? ns(modules.backward_ns[row]) : null,
      modules.per_step
        ? h("td", { class: "real share", style: `--width:${share.toFixed(2)}%` }, `${fixed(share, 1)} %`)
        : null,
      modules.has_gpu ? h("td", { class: "real" }, fixed(this.gpu(row) / 1e6, 3)) : null,
      h("td", { class: "integer" }, count(modules.calls[row])),
    );
  }

  private gpu(row: number): number {
    return this.modules.gpu_forward_ns[row] + this.modules.gpu_backward_ns[row];
  }

  private label(row: number): HTMLElement {
    const { path, class_name } = this.modules;
    const name = shortName(this.modules, row);
    const children = this.children[row].length;
    const toggle =
      children > 0
        ? h("button", { type: "button", class: "twist", "aria-label": `Open or close ${path[row]}` })
        : h("span", { class: "twist" });
    toggle.addEventListener("click", () => {
      if (!this.open.delete(row)) this.open.add(row);
      this.draw(row);
    });
    const kind = class_name[row] !== name ? h("span", { class: "muted kind" }, class_name[row]) : null;
    return h("div", { class: "tree-label", title: path[row] }, toggle, longName(name), kind);
  }
}
