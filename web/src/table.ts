// A table that sorts, filters and grows on demand. All numbers of a column share one unit, shown in
// its header. The meaning of the columns is explained below the table, where it can be read by
// touch and in print.
import type {Column, TableData} from "./data";
import {h, labelledName} from "./dom";
import {columnFormat, count, ownFormat, plural} from "./format";
import type {ColumnFormat} from "./format";
import {cellsOf, rowCount} from "./table_sums";

export interface TableOptions {
  rows: number;  // shown at first
  filter: boolean;
  // What a row opens to; null = nothing. Rows are identified by their names.
  details?: (row: number) => HTMLElement | null;
  rowName?: string;                                              // key of the column with the names
  link?: (table: TableData, row: number) => HTMLElement | null;  // from a row to somewhere else
  ownUnits?: boolean;                                            // each number has its own
}

const kMoreRows = 500;

// Rows in the order of one column: rows without a value come last, equal rows keep their order.
export function sortedRows(
  table: TableData,
  strings: readonly string[],
  column: number,
  descending: boolean,
  ): number[] {
  const cells = table.cells[column];
  const rows = cells.map((_, row) => row);
  const sign = descending ? -1 : 1;
  const isText = table.columns[column].type === "text";
  return rows.sort((a, b) => {
    const left = cells[a];
    const right = cells[b];
    if (left === null || right === null) return Number(left === null) - Number(right === null);
    if (!isText) return sign * (left - right);
    return sign * strings[left].localeCompare(strings[right], "en", {numeric: true});
  });
}

// Rows in which every word of the query occurs in some text cell, ignoring case.
export function matchingRows(
  table: TableData,
  strings: readonly string[],
  rows: readonly number[],
  query: string,
  ): number[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const texts = table.columns.flatMap((column, i) => (column.type === "text" ? [i] : []));
  const verdict = new Map<number, string>();  // lower case of a string, made once
  const lower = (id: number): string => {
    let text = verdict.get(id);
    if (text === undefined) verdict.set(id, (text = strings[id].toLowerCase()));
    return text;
  };
  return rows.filter(
    (row) => words.every(
      (word) => texts.some((column) => {
        const id = table.cells[column][row];
        return id !== null && lower(id).includes(word);
      }),
      ),
  );
}

export class Table {
  readonly element: HTMLElement;
  private formats: ColumnFormat[] = [];
  private largest: number[] = [];  // of columns that show a share bar, else 0
  private readonly headers: HTMLElement[];
  private readonly body = h("tbody");
  private readonly footer = h("div", {class: "table-footer"});
  private readonly help = h("dl");
  private sortColumn = -1;
  private descending = false;
  private query = "";
  private shown: number;
  private readonly open = new Set<number>();  // names of rows that are open

  constructor(
    private table: TableData,
    private readonly strings: readonly string[],
    private readonly labels: Record<number, string>,
    private readonly options: TableOptions,
  ) {
    this.shown = options.rows;
    this.measure();
    this.headers = table.columns.map((column, i) => this.header(column, i));
    this.headers.forEach((cell, i) => cell.classList.toggle("minor", isMinor(table.columns, i)));
    this.element = h(
      "div",
      {class: "table"},
      options.filter ? this.filterBox() : null,
      h(
        "div",
        {class: "scroll", tabindex: "0", role: "region", "aria-label": table.title},
        h("table", {}, h("thead", {}, h("tr", {}, ...this.headers)), this.body),
        ),
      this.footer,
      this.columnHelp(),
    );
    this.draw();
  }

  // Shows other rows in the same columns, whose help may differ; order, filter and open rows are
  // kept.
  update(table: TableData): void {
    this.table = table;
    this.measure();
    this.headers.forEach((header, i) => {
      const label = header.querySelector(".column-name");
      if (label) label.textContent = this.label(i);
      header.querySelector("button")?.setAttribute("title", table.columns[i].help ?? "");
    });
    this.help.replaceChildren(...this.helpTerms());
    this.draw();
  }

  private measure(): void {
    const {columns, cells} = this.table;
    const {ownUnits} = this.options;
    this.formats =
      columns.map((column, i) => ownUnits ? ownFormat(column) : columnFormat(column, cells[i]));
    this.largest = columns.map(
      (column, i) =>
        column.unit === "%" ? cells[i].reduce<number>((most, v) => Math.max(most, v ?? 0), 0) : 0,
    );
  }

  private label(index: number): string {
    const {name} = this.table.columns[index];
    const {unit} = this.formats[index];
    return unit && unit !== name ? `${name} (${unit})` : name;
  }

  private header(column: Column, index: number): HTMLElement {
    const label = h("span", {class: "column-name"}, this.label(index));
    const button =
      h("button", {type: "button", title: column.help ?? ""}, label, h("i", {class: "arrow"}));
    button.addEventListener("click", () => this.sortBy(index));
    return h("th", {scope: "col", class: classOf(column), "aria-sort": "none"}, button);
  }

  private filterBox(): HTMLElement {
    const input = h("input", {
      type: "search",
      placeholder: "Filter",
      "aria-label": `Filter ${this.table.title}`,
      spellcheck: "false",
    });
    input.addEventListener("input", () => {
      this.query = input.value;
      this.draw();
    });
    return h("div", {class: "table-tools"}, input);
  }

  private columnHelp(): HTMLElement|null {
    const terms = this.helpTerms();
    if (terms.length === 0) return null;
    this.help.replaceChildren(...terms);
    return h("details", {class: "help"}, h("summary", {}, "What the columns mean"), this.help);
  }

  private helpTerms(): HTMLElement[] {
    return this.table.columns.flatMap(
      ({name, help}) => (help ? [h("dt", {}, name), h("dd", {}, help)] : []));
  }

  // First click: numbers from the largest, text from A. Second click: the other way. Third: the
  // original order.
  private sortBy(column: number): void {
    const startDescending = this.table.columns[column].type !== "text";
    if (this.sortColumn !== column) {
      this.sortColumn = column;
      this.descending = startDescending;
    } else if (this.descending === startDescending) {
      this.descending = !startDescending;
    } else {
      this.sortColumn = -1;
    }
    this.headers.forEach((header, i) => {
      const order = this.descending ? "descending" : "ascending";
      header.setAttribute("aria-sort", i === this.sortColumn ? order : "none");
    });
    this.draw();
  }

  // As they are sorted and filtered, also those that have no place yet.
  get rows(): number[] {
    const all = this.sortColumn < 0
      ? Array.from({length: rowCount(this.table)}, (_, row) => row)
      : sortedRows(this.table, this.strings, this.sortColumn, this.descending);
    return this.query ? matchingRows(this.table, this.strings, all, this.query) : all;
  }

  private draw(): void {
    const {rows} = this;
    this.body.replaceChildren(...rows.slice(0, this.shown).flatMap((row) => this.row(row)));
    this.drawFooter(rows.length);
  }

  private row(row: number): HTMLElement[] {
    const {columns, cells} = this.table;
    const shown = columns.map((column, i) => this.cell(column, i, cells[i][row]));
    shown.forEach((cell, i) => cell.classList.toggle("minor", isMinor(columns, i)));
    const link = this.options.link?.(this.table, row);
    if (link) shown[0].append(link);
    const key = this.nameOf(row);
    if (!this.options.details || key === null) return [h("tr", {}, ...shown)];
    const isOpen = this.open.has(key);
    const toggle = h("button", {
      type: "button",
      class: "twist",
      "aria-label": `What is in ${this.strings[key]}`,
      "aria-expanded": String(isOpen),
    });
    shown[0].replaceChildren(h("div", {class: "tree-label"}, toggle, ...shown[0].childNodes));
    const line = h("tr", {class: "opens"}, ...shown);
    line.addEventListener("click", (event) => {
      if (document.getSelection()?.toString() && event.target !== toggle) return;
      if (!this.open.delete(key)) this.open.add(key);
      this.draw();
      const buttons = [...this.body.querySelectorAll<HTMLElement>("button.twist")];
      buttons.find((button) => button.ariaLabel === toggle.ariaLabel)?.focus({preventScroll: true});
    });
    const content = isOpen ? this.options.details(row) : null;
    if (!content) return [line];
    return [
      line, h("tr", {class: "details"}, h("td", {colspan: columns.length, class: "text"}, content))
    ];
  }

  private nameOf(row: number): number|null {
    return cellsOf(this.table, this.options.rowName ?? "")[row] ?? null;
  }

  private cell(column: Column, index: number, value: number|null): HTMLElement {
    if (value === null) return h("td", {class: `${classOf(column)} none`}, "–");
    if (column.type === "text") {
      return h("td", {class: "text"}, labelledName(this.strings[value], this.labels[value]));
    }
    const text = this.formats[index].text(value);
    if (this.largest[index] === 0) return h("td", {class: classOf(column)}, text);
    const share = Math.max(0, Math.min(100, (100 * value) / Math.max(100, this.largest[index])));
    return h(
      "td", {class: `${classOf(column)} share`, style: `--width:${share.toFixed(2)}%`}, text);
  }

  private drawFooter(matching: number): void {
    const {total_rows, csv} = this.table;
    const held = rowCount(this.table);
    const parts: (Node|string)[] = [];
    const visible = Math.min(this.shown, matching);
    parts.push(
      visible < matching ? `${count(visible)} of ${count(matching)} rows` : plural(matching, "row"),
    );
    if (matching > this.shown) parts.push(this.moreButton(matching));
    else if (this.shown > this.options.rows && matching > this.options.rows)
      parts.push(this.fewerButton());
    if (csv && held < total_rows) {
      parts.push(`The page holds the first ${count(held)} of ${count(total_rows)}; all are in `,
        fileLink(csv));
    } else if (csv) {
      parts.push(fileLink(csv));
    }
    this.footer.replaceChildren(...parts.map((part) => h("span", {}, part)));
  }

  private moreButton(matching: number): HTMLElement {
    const more = Math.min(kMoreRows, matching - this.shown);
    const label = more === matching - this.shown ? "Show all" : `Show ${more} more`;
    const button = h("button", {type: "button", class: "quiet"}, label);
    button.addEventListener("click", () => {
      this.shown += more;
      this.draw();
    });
    return button;
  }

  private fewerButton(): HTMLElement {
    const button = h("button", {type: "button", class: "quiet"}, "Show fewer");
    button.addEventListener("click", () => {
      this.shown = this.options.rows;
      this.draw();
    });
    return button;
  }
}

function classOf({type}: Column): string {
  return type ?? "integer";
}

const kWide = 4;  // columns

// A phone has no room for the texts beside the name in a wide table: the numbers come first.
function isMinor(columns: readonly Column[], index: number): boolean {
  return columns.length > kWide && index > 0 && columns[index].type === "text";
}

function fileLink(name: string): HTMLElement {
  return h("a", {href: encodeURIComponent(name), class: "file"}, name);
}
