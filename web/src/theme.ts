// Dark or light: the system's setting until the reader chooses. The choice is kept for the next
// report if the browser allows storage for files.
import {h} from "./dom";

type Theme = "light"|"dark";
const kKey = "batchlight-theme";

function stored(): Theme|null {
  try {
    const value = localStorage.getItem(kKey);
    return value === "light" || value === "dark" ? value : null;
  } catch {
    return null;  // storage is off: follow the system
  }
}

function store(theme: Theme): void {
  try {
    localStorage.setItem(kKey, theme);
  } catch {
    // the choice then lasts as long as the page
  }
}

function current(): Theme {
  const chosen = document.documentElement.dataset.theme;
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function applyStoredTheme(): void {
  const theme = stored();
  if (theme) document.documentElement.dataset.theme = theme;
}

export function themeButton(): HTMLElement {
  const button = h("button", {type: "button", class: "theme quiet"});
  const label = (): void => {
    const other = current() === "dark" ? "light" : "dark";
    button.textContent = other === "dark" ? "☾" : "☀";
    button.setAttribute("aria-label", `Use ${other} colours`);
    button.title = `Use ${other} colours`;
  };
  button.addEventListener("click", () => {
    const theme: Theme = current() === "dark" ? "light" : "dark";
    document.documentElement.dataset.theme = theme;
    store(theme);
    label();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", label);
  label();
  return button;
}
