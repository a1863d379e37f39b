// Operators and kernels by name, for the selected steps and rank. An operator opens to the kernels
// that it launched, the shapes it was called with and the modules that call it; a kernel to the
// operators and modules that launch it.
import type {Column, PageData, TableData, Tree} from "../data";
import {h, labelledName} from "../dom";
import {count, percent, significant, time} from "../format";
import {Table} from "../table";
import {cellsOf, rowCount} from "../table_sums";
import {rowLink} from "../timeline_link";
import {columnsWith, groupByName, isGpuWork, isKind, numberOf, ownerOf, placeOf, sumBy} from "../tree";
import type {Group, TreeSums} from "../tree";
import {gpuIsLimit} from "../verdict";
import type {Scope} from "./scope";
import {section} from "./section";
import {tabs} from "./tabs";
import type {Panel} from "./tabs";
import {bars} from "./top_view";

const kRows = 10;
const kDetailRows = 8;

export class ExplorerView {
  readonly element: HTMLElement|null;
  private sums: TreeSums|null;
  private readonly operatorColumns: Column[] = [];  // those that the whole run needs
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
    const panels: Panel[] = [];
    if (tree && this.sums) {
      this.operatorColumns = columnsWith(tree.operators.columns, this.sums);
      this.group(tree, this.sums);
      if (this.operators.length > 0) {
        this.operatorTable =
          this.make(this.operatorData(), (row) => this.operator(this.operators[row]));
        panels.push(
          {label: "Operators", content: () => this.panel("operators", this.operatorTable)});
      }
      if (this.kernels.length > 0) {
        this.kernelTable = this.make(this.kernelData(), (row) => this.kernel(this.kernels[row]));
        const panel = {label: "Kernels", content: () => this.panel("kernels", this.kernelTable)};
        if (gpuIsLimit(page.training[0]?.tracks ?? [])) panels.unshift(panel);
        else panels.push(panel);
      }
    }
    for (const list of page.tops) {
      if (["operators", "kernels", "modules"].includes(list.key)) continue;
      const all = this.table(list.key)?.total_rows ?? 0;
      panels.push({label: list.title, content: () => h("div", {}, this.ofAll(), bars(list, all))});
    }
    this.element = panels.length === 0
      ? null
      : section("top", this.title(panels), "",
          ...scope.elements("Open a row to see what it is made of and where it is called."),
          tabs("top", panels));
    scope.onChange((sums) => this.show(sums));
  }

  private title(panels: readonly Panel[]): string {
    const both = this.operators.length > 0 && this.kernels.length > 0;
    return both ? "Operators and kernels" : panels[0].label;
  }

  private show(sums: TreeSums): void {
    const {tree} = this.page;
    if (!tree) return;
    this.sums = sums;
    this.group(tree, sums);
    this.operatorTable?.update(this.operatorData());
    this.kernelTable?.update(this.kernelData());
  }

  // Parts that do not follow the selection say so.
  private ofAll(): HTMLElement|null {
    const {tree, training} = this.page;
    if (!tree || training.length < 2) return null;
    return h("p", {class: "muted"}, "Steps that count of all ranks, whatever is selected above.");
  }

  private group(tree: Tree, sums: TreeSums): void {
    this.operators = groupByName(tree, sums, tree.operators).filter(({times}) => times.calls > 0);
    this.kernels = groupByName(tree, sums, tree.kernels).filter(({times}) => times.calls > 0);
  }

  private make(data: TableData, details: (row: number) => HTMLElement): Table {
    const link = rowLink(this.page);
    const options = {rows: kRows, filter: rowCount(data) > kRows, details, rowName: "name", link};
    return new Table(data, this.page.strings, this.page.labels, options);
  }

  private panel(key: string, table: Table|null): HTMLElement {
    const link = h("a", {href: `#table-${key}`},
      `The whole run, every ${key === "kernels" ? "kernel" : "operator"}`);
    link.addEventListener(
      "click", () => document.getElementById(`table-${key}`)?.setAttribute("open", ""));
    const has = this.table(key) !== undefined;
    return h("div", {}, table?.element, has ? h("p", {}, link) : null);
  }

  private operatorData(): TableData {
    return {
      ...this.data("operators_of_steps", "Operators", this.operatorColumns, this.operators),
      events: {table: "operator_calls", names: this.operators.map(({name}) => name)},
    };
  }

  private kernelData(): TableData {
    const columns = this.page.tree?.kernels.columns ?? [];
    return {
      ...this.data("kernels_of_steps", "Kernels", columns, this.kernels),
      events: {table: "", names: this.kernels.map(({name}) => name)},
    };
  }

  private data(key: string, title: string, columns: Column[], groups: Group[]): TableData {
    const kinds = this.facts("kind");
    const cells = columns.map((column) => groups.map(({name, times}) => {
      if (column.key === "name") return name;
      if (column.key === "kind") return kinds.get(name) ?? null;
      return this.sums && numberOf(column, this.sums, times);
    }));
    return {key, title, csv: "", total_rows: groups.length, columns, cells};
  }

  // Kernel -> cell of a column of the table of kernels, by its key.
  private facts(key: string): Map<number, number|null> {
    const table = this.table("kernels");
    if (!table) return new Map();
    const cells = cellsOf(table, key);
    return new Map(cellsOf(table, "name").map((kernel, row) => [kernel ?? -1, cells[row] ?? null]));
  }

  private table(key: string): TableData|undefined {
    return this.page.tables.find((table) => table.key === key);
  }

  // --- what a row opens to -----------------------------------------------------------------------

  private operator(group: Group): HTMLElement {
    const {tree} = this.page;
    const {sums} = this;
    if (!tree || !sums) return h("div");
    const work = this.workBelow(tree, group.nodes);
    const calls = (node: number): number => sums.own.calls[node];
    const self = (node: number): number => sums.own.self[node];
    const inModules =
      sumBy(group.nodes, (node) => this.nameOf(tree, placeOf(tree, node)), calls, self);
    const streams = this.facts("streams");
    return h(
      "div",
      {class: "drill"},
      this.list(
        "Kernels and copies it launches",
        sumBy(work, (node) => tree.name[node], calls, self),
        group.times.gpu_total,
        (name) => this.textOf(streams.get(name), "stream "),
        ),
      this.shapes(group.name),
      this.list("Called in", inModules, group.times.cpu_self),
    );
  }

  private kernel(group: Group): HTMLElement {
    const {tree} = this.page;
    const {sums} = this;
    if (!tree || !sums) return h("div");
    const calls = (node: number): number => sums.own.calls[node];
    const self = (node: number): number => sums.own.self[node];
    const operators =
      sumBy(group.nodes, (node) => this.nameOf(tree, ownerOf(tree, node, "operator")), calls, self);
    const places =
      sumBy(group.nodes, (node) => this.nameOf(tree, placeOf(tree, node)), calls, self);
    return h(
      "div",
      {class: "drill"},
      this.list("Launched by operators", operators, group.times.gpu_self),
      this.list("Launched in", places, group.times.gpu_self),
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
      if (isKind(tree, node, "operator")) inside.set(node, pass);
      else if (isGpuWork(tree, node)) work.push(node);
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
    const table = this.table("operators_by_shape");
    if (!table) return null;
    const [names, shapes, calls, self] =
      ["name", "shapes", "calls", "self"].map((key) => cellsOf(table, key));
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
    const keys = [
      "tensor_cores", "rule", "grid", "block", "registers", "occupancy", "limited_by", "waves",
      "streams"
    ];
    const table = this.table("kernels");
    if (!table) return null;
    const rows = keys.flatMap((key) => {
      const cell = this.facts(key).get(name);
      const described = table.columns.find((other) => other.key === key);
      if (cell === null || cell === undefined || !described) return [];
      const text = described.type === "text"
        ? this.page.strings[cell]
        : significant(cell) + (described.unit === "%" ? " %" : "");
      if (text === "") return [];
      return [h("tr", {},
        h("th", {scope: "row", class: "text", title: described.help ?? ""}, described.name),
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
