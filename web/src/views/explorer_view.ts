// Operators and kernels by name, for the steps and the rank that are selected: an operator opens to
// the kernels that it launched, the shapes it was called with and the modules that call it, a
// kernel to the operators and modules that launch it.
import type {Column, PageData, TableData, Tree} from "../data";
import {TreeKind} from "../data";
import {h, labelledName} from "../dom";
import {count, percent, significant, time} from "../format";
import {Table} from "../table";
import {groupOperators, groupWork, ownerOf, placeOf, sumBy} from "../tree";
import type {Group, TreeSums} from "../tree";
import type {Scope} from "./scope";
import {section} from "./section";
import {tabs} from "./tabs";
import type {Panel} from "./tabs";
import {bars} from "./top_view";

const kRows = 10;
const kDetailRows = 8;

function column(name: string, unit: Column["unit"], help: string): Column {
  const type = name === "Operator" || name === "Kernel" || name === "Kind" ? "text"
    : unit === "ns"                                                        ? "integer"
                                                                           : "real";
  return {name, type, unit, decimals: unit === "%" ? 1 : 2, help};
}

export class ExplorerView {
  readonly element: HTMLElement|null;
  private sums: TreeSums|null;
  private readonly hasGpu: boolean;
  private operators: Group[] = [];
  private kernels: Group[] = [];
  private operatorTable: Table|null = null;
  private kernelTable: Table|null = null;

  constructor(
    private readonly page: PageData,
    scope: Scope,
  ) {
    const {tree} = page;
    this.sums = scope.sums;
    this.hasGpu = (scope.sums?.gpu ?? 0) > 0;
    const panels: Panel[] = [];
    if (tree && this.sums) {
      this.group(tree, this.sums);
      if (this.operators.length > 0) {
        this.operatorTable =
          this.make(this.operatorData(), (row) => this.operator(this.operators[row]));
        panels.push(
          {label: "Operators", content: () => this.panel("operators", this.operatorTable)});
      }
      if (this.kernels.length > 0) {
        this.kernelTable = this.make(this.kernelData(), (row) => this.kernel(this.kernels[row]));
        panels.push({label: "Kernels", content: () => this.panel("kernels", this.kernelTable)});
      }
    }
    for (const list of page.tops) {
      if (["operators", "kernels", "modules"].includes(list.key)) continue;
      const all = page.tables.find((table) => table.name === list.key)?.total_rows ?? 0;
      panels.push({label: list.title, content: () => h("div", {}, this.ofAll(), bars(list, all))});
    }
    // The kernels first where a GPU works, as the operators only launch them.
    this.element = panels.length === 0
      ? null
      : section("top", "Operators and kernels", "",
          ...scope.elements("Open a row to see what it is made of and where it is called."),
          tabs("top", panels));
    scope.onChange((sums) => this.show(sums));
  }

  private show(sums: TreeSums): void {
    const {tree} = this.page;
    if (!tree) return;
    this.sums = sums;
    this.group(tree, sums);
    this.operatorTable?.update(this.operatorData());
    this.kernelTable?.update(this.kernelData());
  }

  // What does not follow the selection says so.
  private ofAll(): HTMLElement|null {
    const {tree, training} = this.page;
    if (!tree || training.length < 2) return null;
    return h("p", {class: "muted"}, "Steps that count of all ranks, whatever is selected above.");
  }

  private group(tree: Tree, sums: TreeSums): void {
    this.operators = groupOperators(tree, sums).filter((group) => group.calls > 0);
    this.kernels = groupWork(tree, sums).filter((group) => group.calls > 0);
  }

  private make(data: TableData, details: (row: number) => HTMLElement): Table {
    const filter = (data.cells[0]?.length ?? 0) > kRows;
    return new Table(data, this.page.strings, this.page.labels, {rows: kRows, filter, details});
  }

  private panel(key: string, table: Table|null): HTMLElement {
    const link = h("a", {href: `#table-${key}`},
      `The whole run, every ${key === "kernels" ? "kernel" : "operator"}`);
    link.addEventListener(
      "click", () => document.getElementById(`table-${key}`)?.setAttribute("open", ""));
    const has = this.page.tables.some(({name}) => name === key);
    return h("div", {}, table?.element, has ? h("p", {}, link) : null);
  }

  private operatorData(): TableData {
    const groups = this.operators;
    const gpu = this.sums?.gpu || 1;
    const step = this.sums?.step_ns || 1;
    const cells: (number|null)[][] = [
      groups.map((group) => group.name),
      groups.map((group) => group.calls),
      groups.map((group) => group.cpuSelf),
      groups.map((group) => (100 * group.cpuSelf) / step),
      groups.map((group) => group.cpuTotal),
      groups.map((group) => group.backward),
    ];
    const columns = [
      column("Operator", "", ""),
      column("Calls", "", "Calls of the operator; per step where there are steps"),
      column("CPU self", "ns", "Time in the operator and in no operator inside it"),
      column("Of step", "%", "CPU self / mean step"),
      column("CPU total", "ns",
        "With the operators inside; a call inside one of the same name counts once"),
      column("Its backward", "ns", "CPU time of the functions that differentiate its calls"),
    ];
    if (this.hasGpu) {
      columns.push(
        column("GPU", "ns", "Work on the GPU that the operator launched itself: sum of durations"),
        column("Of GPU", "%", "GPU / all GPU time"),
        column("GPU total", "ns", "With the work of the operators inside"),
      );
      cells.push(
        groups.map((group) => group.gpuSelf),
        groups.map((group) => (100 * group.gpuSelf) / gpu),
        groups.map((group) => group.gpuTotal),
      );
    }
    return this.data("operators_of_steps", "Operators", columns, cells);
  }

  private kernelData(): TableData {
    const groups = this.kernels;
    const kind = this.facts("Kind");
    const gpu = this.sums?.gpu || 1;
    return this.data(
      "kernels_of_steps",
      "Kernels",
      [
        column("Kernel", "", ""),
        column("Kind", "", "By the kernel's name"),
        column("Calls", "", "Per step where there are steps"),
        column("GPU time", "ns", "Sum of durations"),
        column("Of GPU", "%", "Time / all GPU time"),
        column("Average", "ns", "Time / calls"),
        column("In backward", "%", "Part of its time that the backward pass launched"),
      ],
      [
        groups.map((group) => group.name),
        groups.map((group) => kind.get(group.name) ?? null),
        groups.map((group) => group.calls),
        groups.map((group) => group.gpuSelf),
        groups.map((group) => (100 * group.gpuSelf) / gpu),
        groups.map((group) => group.gpuSelf / group.calls),
        groups.map((group) => (100 * group.backward) / (group.gpuSelf || 1)),
      ],
    );
  }

  private data(
    name: string, title: string, columns: Column[], cells: (number|null)[][]): TableData {
    return {name, title, csv: "", total_rows: cells[0].length, columns, cells};
  }

  // Kernel -> cell of a column of the table of kernels.
  private facts(name: string): Map<number, number|null> {
    const table = this.page.tables.find((other) => other.name === "kernels");
    const at = table?.columns.findIndex((other) => other.name === name) ?? -1;
    if (!table || at < 0) return new Map();
    return new Map(table.cells[0].map((kernel, row) => [kernel ?? -1, table.cells[at][row]]));
  }

  // --- what a row opens to -----------------------------------------------------------------------

  private operator(group: Group): HTMLElement {
    const {tree} = this.page;
    const {sums} = this;
    if (!tree || !sums) return h("div");
    const work = this.workBelow(tree, group.nodes);
    const calls = (node: number): number => sums.calls[node];
    const self = (node: number): number => sums.self[node];
    const inModules =
      sumBy(group.nodes, (node) => this.nameOf(tree, placeOf(tree, node)), calls, self);
    const streams = this.facts("Streams");
    return h(
      "div",
      {class: "drill"},
      this.list(
        "Kernels and copies it launches",
        sumBy(work, (node) => tree.name[node], calls, self),
        group.gpuTotal,
        (name) => this.textOf(streams.get(name), "stream "),
        ),
      this.shapes(group.name),
      this.list("Called in", inModules, group.cpuSelf),
    );
  }

  private kernel(group: Group): HTMLElement {
    const {tree} = this.page;
    const {sums} = this;
    if (!tree || !sums) return h("div");
    const calls = (node: number): number => sums.calls[node];
    const self = (node: number): number => sums.self[node];
    const operators = sumBy(group.nodes,
      (node) => this.nameOf(tree, ownerOf(tree, node, TreeKind.operator)), calls, self);
    const places =
      sumBy(group.nodes, (node) => this.nameOf(tree, placeOf(tree, node)), calls, self);
    return h(
      "div",
      {class: "drill"},
      this.list("Launched by operators", operators, group.gpuSelf),
      this.list("Launched in", places, group.gpuSelf),
      this.launch(group.name),
    );
  }

  // Work that the nodes or operators inside them launched; not that of their backward.
  private workBelow(tree: Tree, nodes: readonly number[]): number[] {
    const inside = new Map(nodes.map((node) => [node, tree.backward[node]]));
    const work: number[] = [];
    tree.parent.forEach((parent, node) => {
      const pass = inside.get(parent);
      if (pass === undefined || tree.backward[node] !== pass) return;
      if (tree.kind[node] === TreeKind.operator) inside.set(node, pass);
      else if (tree.kind[node] >= TreeKind.kernel) work.push(node);
    });
    return work;
  }

  private nameOf(tree: Tree, node: number): number {
    return node < 0 ? -1 : tree.name[node];
  }

  private textOf(cell: number|null|undefined, before: string): string {
    const text = cell === null || cell === undefined ? "" : this.page.strings[cell];
    return text ? before + text : "";
  }

  private list(
    title: string,
    entries: {key: number; calls: number; time: number}[],
    whole: number,
    note?: (name: number) => string,
    ): HTMLElement|null {
    const listed = entries.filter((entry) => entry.calls > 0);
    if (listed.length === 0) return null;
    const rows = listed.slice(0, kDetailRows)
                   .map(
                     ({key, calls, time: ns}) => h(
                       "tr",
                       {},
                       h("th", {scope: "row", class: "text"},
                         labelledName(this.page.strings[key], this.page.labels[key])),
                       note ? h("td", {class: "text muted"}, note(key)) : null,
                       h("td", {class: "real"}, `${significant(calls)} ×`),
                       h("td", {class: "real"}, time(ns)),
                       h("td", {class: "real"}, percent(ns, whole)),
                       ),
                   );
    return this.box(title, rows, listed.length - kDetailRows);
  }

  private shapes(name: number): HTMLElement|null {
    const table = this.page.tables.find((other) => other.name === "operators_by_shape");
    if (!table) return null;
    const [names, shapes, calls, self] = table.cells;
    const found =
      names.flatMap((other, row) => (other === name && shapes[row] !== null ? [row] : []));
    const rows =
      found.slice(0, kDetailRows)
        .map(
          (row) => h(
            "tr",
            {},
            h("th", {scope: "row", class: "text"},
              labelledName(this.page.strings[shapes[row] ?? 0] || "no tensor", undefined)),
            h("td", {class: "real"}, `${count(calls[row] ?? 0)} ×`),
            h("td", {class: "real"}, time(self[row] ?? 0)),
            ),
        );
    return rows.length > 0 ? this.box(`Input shapes, CPU self in the whole run${
                                        this.page.training.length > 1 ? ", all ranks" : ""}`,
                               rows, found.length - kDetailRows)
                           : null;
  }

  private launch(name: number): HTMLElement|null {
    const names = [
      "Tensor Cores", "Rule", "Grid", "Block", "Registers", "Occupancy", "Limited By", "Waves",
      "Streams"
    ];
    const table = this.page.tables.find((other) => other.name === "kernels");
    if (!table) return null;
    const rows = names.flatMap((label) => {
      const cell = this.facts(label).get(name);
      const described = table.columns.find((other) => other.name === label);
      if (cell === null || cell === undefined || !described) return [];
      const text = described.type === "text"
        ? this.page.strings[cell]
        : significant(cell) + (described.unit === "%" ? " %" : "");
      if (text === "") return [];
      return [h("tr", {}, h("th", {scope: "row", class: "text", title: described.help}, label),
        h("td", {class: "text"}, text))];
    });
    return rows.length > 0 ? this.box("Its most frequent launch", rows, 0) : null;
  }

  private box(title: string, rows: HTMLElement[], more: number): HTMLElement {
    return h(
      "div",
      {},
      h("h4", {}, title),
      h("table", {}, h("tbody", {}, ...rows)),
      more > 0 ? h("p", {class: "muted"}, `and ${count(more)} more`) : null,
    );
  }
}
