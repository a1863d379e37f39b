// Tabs as ARIA describes them: arrow keys move between them, and the content is built when first
// shown. In print all panels are shown one below the other.
import {h} from "../dom";

export interface Panel {
  label: string;
  content: () => HTMLElement;
}

export function tabs(id: string, panels: Panel[]): HTMLElement {
  if (panels.length === 1) return panels[0].content();
  const buttons = panels.map(
    (panel, i) => h(
      "button",
      {type: "button", role: "tab", id: `${id}-tab-${i}`, "aria-controls": `${id}-panel-${i}`},
      panel.label,
      ),
  );
  const boxes = panels.map(
    (panel, i) => h(
      "div",
      {role: "tabpanel", id: `${id}-panel-${i}`, "aria-labelledby": `${id}-tab-${i}`},
      h("h3", {class: "print-only"}, panel.label),
      panel.content(),
      ),
  );
  const show = (shown: number): void => {
    buttons.forEach((button, i) => {
      button.setAttribute("aria-selected", String(i === shown));
      button.tabIndex = i === shown ? 0 : -1;
      boxes[i].classList.toggle("hidden-tab", i !== shown);
    });
  };
  buttons.forEach((button, i) => {
    button.addEventListener("click", () => show(i));
    button.addEventListener("keydown", (event) => {
      const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
      if (step === 0) return;
      const next = (i + step + panels.length) % panels.length;
      show(next);
      buttons[next].focus();
    });
  });
  show(0);
  return h("div", {class: "tabs"}, h("div", {role: "tablist"}, ...buttons), ...boxes);
}
