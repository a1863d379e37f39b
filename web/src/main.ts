// Builds the page from the JSON that `batchlight report` placed in it.
import type { PageData } from "./data";
import { copyWholeNames, h } from "./dom";
import { applyStoredTheme } from "./theme";
import { adviceView } from "./views/advice_view";
import { lossBanner, titleBlock, topBar } from "./views/header_view";
import { moduleView } from "./views/module_view";
import { runView } from "./views/run_view";
import { StepView } from "./views/step_view";
import { tablesView } from "./views/tables_view";
import { topView } from "./views/top_view";

const kSectionLabels: Record<string, string> = {
  advice: "Advice",
  phases: "Phases",
  steps: "Steps",
  top: "Top 10",
  modules: "Modules",
  tables: "Tables",
  run: "Run",
};

function read(): PageData {
  const text = document.getElementById("data")?.textContent ?? "";
  return JSON.parse(text) as PageData;
}

function noSteps(page: PageData): HTMLElement {
  return h("aside", { class: "banner", role: "note" }, h("b", {}, "No steps"), h("p", {}, page.steps_found));
}

function build(page: PageData): void {
  const parts: (HTMLElement | null)[] = page.training.length > 0 ? new StepView(page).sections : [noSteps(page)];
  parts.splice(1, 0, adviceView(page));
  parts.push(topView(page), moduleView(page), tablesView(page), runView(page));
  const shown = parts.filter((part): part is HTMLElement => part !== null);
  const sections = shown
    .filter((part) => kSectionLabels[part.id])
    .map((part) => ({ id: part.id, label: kSectionLabels[part.id] }));
  const problem = page.steps_problem
    ? h("aside", { class: "banner", role: "note" }, h("p", {}, page.steps_problem))
    : null;
  const content = [titleBlock(page), lossBanner(page.losses), problem, ...shown];
  document.body.replaceChildren(
    topBar(sections),
    h("main", {}, ...content),
    h("footer", {}, `Made by batchlight ${page.version}. This file needs no network and no server.`),
  );
}

applyStoredTheme();
copyWholeNames();
build(read());
