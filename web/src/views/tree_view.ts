// Where the time goes as one tree, model -> module -> operator -> kernel, for the selected steps
// and rank: as a flame graph, and as a treegrid that opens branch by branch.
import type {PageData, Tree, TreeColumn} from "../data";
import {h, labelledName, longName} from "../dom";
import {count, decimalsFor, fixed, scaleFor, significant} from "../format";
import type {Scale} from "../format";
import {FlameGraph} from "../charts/flame_graph";
import {columnsWith, isGpuWork, isKind, numberOf, timesOfNode} from "../tree";
import type {TreeSums} from "../tree";
import {timelineLink} from "../timeline_link";
import {gpuIsLimit} from "../verdict";
import {choice} from "./choice";
import type {Scope} from "./scope";
import {section} from "./section";

const kMostRows = 1500;  // shown at a time

export class TreeView {
  readonly element: HTMLElement|null = null;
  private readonly flameBox = h("div");
  private gpu = false;
  private sums: TreeSums|null = null;

  constructor(
    private readonly page: PageData,
    scope: Scope,
  ) {
    const {tree} = page;
    if (!tree || !scope.sums) return;
    this.sums = scope.sums;
    const {cpu, gpu} = this.sums.whole;
    // Where the GPU is the limit, its time is what counts.
    this.gpu = gpu > 0 && (cpu === 0 || gpuIsLimit(page.training[0]?.tracks ?? []));
    const clocks = gpu > 0 && cpu > 0 ? ["CPU time", "GPU time"] : ["CPU time"];
    const buttons = choice("Flame graph", clocks, this.gpu ? 1 : 0, (clock) => {
      this.gpu = clock === 1;
      this.drawFlame();
    });
    const grid = new TreeGrid(page, tree, this.sums, scope);
    this.element = section(
      "tree",
      gpu > 0 ? "Model, modules, operators, kernels" : "Model, modules, operators",
      "",
      ...scope.elements(
        "Forward and backward stand side by side: a backward function is below the operator it differentiates. CPU time is what the step waits for, on whichever thread."),
      ...(buttons ? [buttons] : []),
      this.flameBox,
      grid.element,
      formulas(gpu > 0),
    );
    this.drawFlame();
    scope.onChange((sums) => {
      this.sums = sums;
      grid.show(sums);
      this.drawFlame();
    });
  }

  private drawFlame(): void {
    const {tree, strings, labels} = this.page;
    const {sums} = this;
    if (!tree || !sums) return;
    const graph = new FlameGraph({
      label: `${this.gpu ? "GPU" : "CPU"} time, forward and backward`,
      name: tree.name.map((name, node) => labels[name] ?? shortName(tree, strings, node)),
      title: tree.name.map((name) => strings[name]),
      look: tree.kind.map((_, node) => lookOf(tree, node)),
      parent: tree.parent,
      value_ns: Array.from(this.gpu ? sums.inside.gpu : sums.inside.cpu),
      whole_ns: this.gpu ? sums.whole.gpu : sums.step_ns,
    });
    this.flameBox.replaceChildren(graph.element);
  }
}

// What the numbers mean, of those that there are.
function formulas(gpu: boolean): HTMLElement {
  const all: {term: string; text: string; ofGpu?: boolean}[] = [
    {
      term: "CPU time",
      text:
        "Time between begin and end of a call, on the thread that runs the steps or, while that one only waits in backward(), on autograd's. What other threads do meanwhile is apart, so that no sum exceeds the step. It counts for the step in which the call began."
    },
    {term: "Self", text: "CPU time of a call in none of the calls inside it, whatever their kind."},
    {
      term: "GPU time",
      text:
        "Sum of the durations of kernels, copies and sets: work side by side counts twice. It counts for the step that launched it.",
      ofGpu: true
    },
    {
      term: "Forward, backward",
      text:
        `With all that is inside. Backward: work of autograd's functions, tied to the forward operator by autograd's sequence numbers; without operators, ${
          gpu ? "work launched" : "time"} inside backward().`
    },
    {
      term: "Belongs to nothing",
      text:
        "GPU work whose launch lies in no operator, module, phase or range, or whose launch was not recorded.",
      ofGpu: true
    },
  ];
  const terms = all.filter(({ofGpu}) => gpu || !ofGpu);
  return h(
    "details",
    {class: "help"},
    h("summary", {}, "What the numbers mean"),
    h("dl", {}, ...terms.flatMap(({term, text}) => [h("dt", {}, term), h("dd", {}, text)])),
  );
}

// What a phone leaves out, so that the shares are on its screen.
function weight({key}: TreeColumn): string {
  return key === "cpu_self" ? "minor" : "";
}

function lookOf(tree: Tree, node: number): string {
  if (isGpuWork(tree, node)) return "work";
  return tree.backward[node] === 1 ? "backward" : tree.kinds[tree.kind[node]].key;
}

// The name of a module without that of its parent.
function shortName(tree: Tree, strings: readonly string[], node: number): string {
  const name = strings[tree.name[node]];
  const parent = tree.parent[node];
  if (!isKind(tree, node, "module") || parent < 0) return name;
  const prefix = `${strings[tree.name[parent]]}.`;
  return name.startsWith(prefix) ? name.slice(prefix.length) : name;
}

class TreeGrid {
  readonly element: HTMLElement;
  private readonly children: number[][];
  private readonly roots: number[] = [];
  private readonly open = new Set<number>();
  private readonly body = h("tbody");
  private readonly head = h("tr");
  private readonly note = h("p", {class: "muted"});
  private columns: TreeColumn[] = [];
  private scale: Scale = {factor: 1, unit: "ns"};
  private decimals = 0;
  private sortColumn = -2;  // -1: as they were first called, -2: not chosen yet
  private query = "";

  constructor(
    private readonly page: PageData,
    private readonly tree: Tree,
    private sums: TreeSums,
    private readonly scope: Pick<Scope, "isOfAllRanks">,
  ) {
    this.children = tree.name.map(() => []);
    tree.parent.forEach(
      (parent, node) => (parent < 0 ? this.roots : this.children[parent]).push(node));
    this.openFirstBranches();
    const filter = h("input", {
      type: "search",
      placeholder: "Filter",
      "aria-label": "Filter the tree",
      spellcheck: "false"
    });
    filter.addEventListener("input", () => {
      this.query = filter.value.toLowerCase();
      this.draw();
    });
    this.element = h(
      "div",
      {class: "table"},
      h("div", {class: "table-tools"}, filter, this.tool("Modules", "module"),
        this.tool("Operators", "operator"), this.tool("Kernels", "kernel"), this.closeTool()),
      h(
        "div",
        {
          class: "scroll",
          tabindex: "0",
          role: "region",
          "aria-label": "Tree of modules, operators and kernels"
        },
        h("table", {role: "treegrid", "aria-label": "Modules, operators, kernels"},
          h("thead", {}, this.head), this.body),
        ),
      this.note,
    );
    this.show(sums);
  }

  show(sums: TreeSums): void {
    this.sums = sums;
    const largest = Math.max(sums.whole.cpu, sums.whole.gpu);
    this.scale = scaleFor("ns", largest);
    this.decimals = decimalsFor(largest / this.scale.factor, 5);
    const sorted = this.sortColumn === -2 ? (sums.whole.cpu > 0 ? "cpu_share" : "gpu_share")
                                          : this.columns[this.sortColumn]?.key;
    this.columns = columnsWith(this.tree.columns, sums);
    if (sorted) this.sortColumn = this.columns.findIndex(({key}) => key === sorted);
    this.drawHead();
    this.draw();
  }

  // Open from the root until a level has several modules to compare.
  private openFirstBranches(): void {
    let level = this.roots;
    for (let depth = 0; depth < 4 && level.length > 0; ++depth) {
      const modules = level.filter((node) => isKind(this.tree, node, "module"));
      modules.forEach((node) => this.open.add(node));
      if (modules.length > 1) break;
      level = modules.flatMap((node) => this.children[node]);
    }
  }

  // Opens the tree down to one kind of node.
  private tool(label: string, kind: string): HTMLElement|null {
    const {tree} = this;
    const deeper = (node: number): boolean =>
      (kind === "kernel" ? isGpuWork(tree, node) : isKind(tree, node, kind));
    if (!tree.kind.some((_, node) => deeper(node))) return null;
    const button = h("button", {type: "button", class: "quiet"}, label);
    button.addEventListener("click", () => {
      this.open.clear();
      tree.kind.forEach((_, node) => {
        if (!deeper(node)) return;
        for (let above = this.tree.parent[node]; above >= 0 && !this.open.has(above);
             above = this.tree.parent[above]) {
          this.open.add(above);
        }
      });
      this.draw();
    });
    return button;
  }

  private closeTool(): HTMLElement {
    const button = h("button", {type: "button", class: "quiet"}, "Close all");
    button.addEventListener("click", () => {
      this.open.clear();
      this.draw();
    });
    return button;
  }

  private drawHead(): void {
    const cells = this.columns.map((column, i) => {
      const label = column.unit === "ns" ? `${column.name} (${this.scale.unit})` : column.name;
      const button =
        h("button", {type: "button", title: column.help ?? ""}, label, h("i", {class: "arrow"}));
      button.addEventListener("click", () => {
        this.sortColumn = this.sortColumn === i ? -1 : i;
        this.drawHead();
        this.draw();
      });
      const sort = this.sortColumn === i ? "descending" : "none";
      return h("th", {scope: "col", class: `real ${weight(column)}`, "aria-sort": sort}, button);
    });
    this.head.replaceChildren(h("th", {scope: "col", class: "text"}, "Name"), ...cells);
  }

  // Siblings in the chosen order.
  private ordered(nodes: readonly number[]): number[] {
    const column = this.columns[this.sortColumn];
    const {own} = this.sums;
    const there =
      nodes.filter((node) => own.calls[node] > 0 || own.self[node] + own.beside[node] !== 0);
    if (!column) return there;
    const values = new Map(there.map((node) => [node, this.valuesOf(node)(column)]));
    return there.sort((a, b) => values.get(b)! - values.get(a)!);
  }

  // Nodes whose names contain the query, and the nodes around them.
  private matching(): Set<number>|null {
    if (!this.query) return null;
    const shown = new Set<number>();
    this.tree.name.forEach((name, node) => {
      if (!this.page.strings[name].toLowerCase().includes(this.query)) return;
      for (let at = node; at >= 0 && !shown.has(at); at = this.tree.parent[at]) shown.add(at);
    });
    return shown;
  }

  private draw(focus = -1): void {
    const rows: HTMLElement[] = [];
    const shown = this.matching();
    let hidden = 0;
    const add = (node: number, level: number): void => {
      if (shown && !shown.has(node)) return;
      if (rows.length >= kMostRows) {
        ++hidden;
        return;
      }
      rows.push(this.row(node, level));
      if (shown || this.open.has(node))
        this.ordered(this.children[node]).forEach((child) => add(child, level + 1));
    };
    this.ordered(this.roots).forEach((node) => add(node, 1));
    this.body.replaceChildren(...rows);
    const notes = [
      hidden > 0 ? `${count(hidden)} more branches: filter, or close some.` : "",
      this.tree.left_out > 0
        ? `${count(this.tree.left_out)} small nodes are put together; all are in attribution.csv.`
        : "",
    ];
    this.note.textContent = notes.join(" ");
    if (focus >= 0) this.body.querySelector<HTMLElement>(`[data-row="${focus}"] button`)?.focus();
  }

  private valuesOf(node: number): (column: TreeColumn) => number {
    const times = timesOfNode(this.tree, this.sums, node);
    return (column) => numberOf(column, this.sums, times) ?? 0;
  }

  private row(node: number, level: number): HTMLElement {
    const hasChildren = this.children[node].length > 0;
    const expanded = hasChildren ? String(this.query !== "" || this.open.has(node)) : null;
    const valueOf = this.valuesOf(node);
    const cells = this.columns.map((column) => {
      const value = valueOf(column);
      if (value === 0) return h("td", {class: `real none ${weight(column)}`}, "");
      if (!column.unit) return h("td", {class: "integer"}, significant(value));
      if (column.unit === "ns")
        return h(
          "td", {class: `real ${weight(column)}`}, fixed(value / this.scale.factor, this.decimals));
      return h("td", {class: "real share", style: `--width:${Math.min(100, value).toFixed(2)}%`},
        `${fixed(value, 1)} %`);
    });
    return h(
      "tr",
      {"aria-level": level, "aria-expanded": expanded, "data-row": node},
      h("th", {scope: "row", class: "text", style: `--level:${level - 1}`}, this.label(node)),
      ...cells,
    );
  }

  private label(node: number): HTMLElement {
    const {strings, labels} = this.page;
    const {tree} = this;
    const name = tree.name[node];
    const shown = shortName(tree, strings, node);
    const toggle = this.children[node].length > 0
      ? h("button",
          {type: "button", class: "twist", "aria-label": `Open or close ${strings[name]}`})
      : h("span", {class: "twist"});
    toggle.addEventListener("click", () => {
      if (!this.open.delete(node)) this.open.add(node);
      this.draw(node);
    });
    const chip =
      h("i", {class: `chip look-${lookOf(tree, node)}`, title: tree.kinds[tree.kind[node]].name});
    const text = labels[name] ? labelledName(strings[name], labels[name]) : longName(shown);
    return h("div", {class: "tree-label", title: strings[name]}, toggle, chip, text,
      this.detail(node, shown), this.longest(node));
  }

  private longest(node: number): HTMLElement|null {
    const {longest_start_ns: starts, longest_ns: lengths, name} = this.tree;
    if (lengths[node] === 0 || !this.scope.isOfAllRanks) return null;
    const place = {from: starts[node], to: starts[node] + lengths[node]};
    return timelineLink(this.page, place,
      `the longest ${this.page.strings[name[node]]} here, of all steps that count`);
  }

  // Class of a module, shapes of an operator's inputs.
  private detail(node: number, shown: string): HTMLElement|null {
    const detail = this.tree.detail[node];
    if (detail === null) return null;
    const text = this.page.strings[detail];
    if (text === "" || text === shown) return null;
    const more =
      this.tree.more[node] > 0 && isKind(this.tree, node, "operator") ? " and other shapes" : "";
    return h("span", {class: "muted kind", title: text + more}, text + more);
  }
}
