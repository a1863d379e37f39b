// The lower part of the window: one panel at a time, chosen by tabs or by what the reader does.
import {h} from "../../dom";

export interface DockPanel {
  id: string;
  label: string;
  element: HTMLElement;
  onShow?: () => void;
}

const kLeastPx = 90;

export class Dock {
  readonly element: HTMLElement;
  private readonly buttons: HTMLButtonElement[];
  private readonly boxes: HTMLElement[];
  private readonly toggle: HTMLButtonElement;
  shown = "";

  constructor(private readonly panels: DockPanel[]) {
    this.buttons = panels.map(({id, label}) => h("button", {
      type: "button",
      role: "tab",
      id: `dock-tab-${id}`,
      "aria-controls": `dock-${id}`,
      "aria-selected": "false",
      click: () => this.show(id),
      keydown: ((event: KeyboardEvent) => this.arrows(event, id)) as EventListener,
    },
                                label));
    this.boxes = panels.map(({id, element}) => h("div", {
      class: "dock-panel",
      role: "tabpanel",
      id: `dock-${id}`,
      "aria-labelledby": `dock-tab-${id}`,
      hidden: true
    },
                              element));
    this.toggle = h("button", {
      type: "button",
      class: "quiet",
      click: () => this.setOpen(this.element.classList.contains("closed"))
    });
    const grip = h("div", {
      class: "grip",
      role: "separator",
      "aria-orientation": "horizontal",
      "aria-label": "Height of the panel",
      tabindex: "0"
    });
    this.element = h("section", {class: "dock", "aria-label": "Details"}, grip,
      h("div", {class: "dock-bar"},
        h("div", {role: "tablist", "aria-label": "Details"}, ...this.buttons), this.toggle),
      h("div", {class: "dock-body"}, ...this.boxes));
    this.listenToGrip(grip);
    this.show(panels[0].id, false);
    this.setOpen(true);
    this.element.classList.add("waiting");  // low, until there is something to show
  }

  show(id: string, open = true): void {
    this.shown = id;
    this.element.dataset.shown = id;
    this.element.classList.remove("waiting");
    this.panels.forEach((panel, i) => {
      const chosen = panel.id === id;
      this.buttons[i].setAttribute("aria-selected", String(chosen));
      this.buttons[i].tabIndex = chosen ? 0 : -1;
      this.boxes[i].hidden = !chosen;
    });
    if (open) this.setOpen(true);
    this.panels.find((panel) => panel.id === id)?.onShow?.();
  }

  setOpen(open: boolean): void {
    this.element.classList.toggle("closed", !open);
    this.toggle.textContent = open ? "Hide" : "Show";
    this.toggle.setAttribute("aria-expanded", String(open));
  }

  private arrows(event: KeyboardEvent, id: string): void {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (step === 0) return;
    const at = this.panels.findIndex((panel) => panel.id === id);
    const next = (at + step + this.panels.length) % this.panels.length;
    this.show(this.panels[next].id);
    this.buttons[next].focus();
  }

  private listenToGrip(grip: HTMLElement): void {
    const resize = (height: number): void => {
      const most = window.innerHeight * 0.8;
      this.element.classList.remove("waiting");
      this.element.classList.add("sized");
      this.element.style.height = `${Math.min(most, Math.max(kLeastPx, height))}px`;
    };
    grip.addEventListener("pointerdown", (event) => grip.setPointerCapture(event.pointerId));
    grip.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) resize(this.element.getBoundingClientRect().bottom - event.clientY);
    });
    grip.addEventListener("keydown", (event) => {
      const by = event.key === "ArrowUp" ? 24 : event.key === "ArrowDown" ? -24 : 0;
      if (by === 0) return;
      event.preventDefault();
      resize(this.element.offsetHeight + by);
    });
  }
}
