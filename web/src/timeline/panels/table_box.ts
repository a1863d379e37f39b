// A table of a range, which is copied as it is shown: sorted, filtered, and whole.
import {h} from "../../dom";
import {count, plural} from "../../format";
import {Table} from "../../table";
import type {RangeTable} from "../data/protocol";
import {csvOf, hasOwnUnits, tableOf, textOf} from "./range_data";

const kRows = 12;

// `whole` asks for all rows of a long table.
export function tableBox(table: RangeTable, whole?: () => Promise<RangeTable>): HTMLElement {
  let held = table;
  const {table: data, strings} = tableOf(table);
  const filter = table.rows.length > kRows;
  const view = new Table(data, strings, {}, {rows: kRows, filter, ownUnits: hasOwnUnits(table)});
  const said = h("span", {class: "muted", role: "status"});
  const total = table.total_rows ?? 0;
  let cut = total > table.rows.length;
  const button = (label: string, does: () => Promise<string>): HTMLElement => h("button", {
    type: "button",
    class: "quiet",
    click: () => void does().then(
      (text) => (said.textContent = text), (error: Error) => (said.textContent = error.message)),
  },
    label);
  const more = button(`All ${count(total)} rows`, async () => {
    await complete();
    return "";
  });
  const complete = async(): Promise<void> => {
    if (!whole || !cut) return;
    held = await whole();
    cut = false;
    view.update(tableOf(held, strings).table);
    more.remove();
  };
  const copy = (label: string, textOfAll: (all: RangeTable) => string): HTMLElement =>
    button(label, async () => {
      await complete();
      const rows = view.rows.map((row) => held.rows[row]);
      try {
        await navigator.clipboard.writeText(textOfAll({...held, rows}));
      } catch {
        return "the browser does not allow it";
      }
      return rows.length < held.rows.length
        ? `copied ${count(rows.length)} of ${plural(held.rows.length, "row")}, as filtered`
        : `copied ${plural(rows.length, "row")}`;
    });
  return h("div", {class: "table-box"},
    h("div", {class: "buttons"}, copy("Copy CSV", csvOf), copy("Copy text", textOf),
      cut ? more : null, said),
    view.element);
}
