// Every table of the analysis, built when it is opened.
import type {PageData, TableData} from "../data";
import {h} from "../dom";
import {count} from "../format";
import type {StepRange} from "../step_bins";
import {Table} from "../table";
import {rowCount} from "../table_sums";
import {rowLink} from "../timeline_link";
import {section} from "./section";

const kFirstRows = 50;
const kFilterFrom = 8;  // rows

export class TablesView {
  readonly element: HTMLElement|null;
  private readonly scope = h("p", {class: "muted"});

  constructor(page: PageData) {
    const lead =
      "Click a column to sort. Each table lies beside this page as a CSV file in base units.";
    const boxes = page.tables.map((table) => box(page, table));
    this.element =
      boxes.length === 0 ? null : section("tables", "All tables", lead, this.scope, ...boxes);
  }

  show(range: StepRange, label: string): void {
    const whole = [
      "These tables do not follow the selection of ", h("mark", {}, label),
      ": they are of the whole run."
    ];
    this.scope.replaceChildren(...(range ? whole : []));
  }
}

function box(page: PageData, table: TableData): HTMLElement {
  const rows = `${count(table.total_rows)} ${table.total_rows === 1 ? "row" : "rows"}`;
  const summary = h("summary", {}, h("b", {}, table.title), h("span", {class: "muted"}, rows));
  const details = h("details", {class: "table-box", id: `table-${table.key}`}, summary);
  details.addEventListener("toggle", () => {
    if (!details.open || details.childElementCount > 1) return;
    const filter = rowCount(table) >= kFilterFrom;
    const options = {rows: kFirstRows, filter, link: rowLink(page)};
    details.append(new Table(table, page.strings, page.labels, options).element);
  });
  return details;
}
