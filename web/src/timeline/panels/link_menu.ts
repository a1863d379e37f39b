// Ways to bring others, or another tab, to the place that is shown. The token leaves the page only
// where the reader asks for it: who has it can read the run for as long as it is served.
import {h} from "../../dom";
import {addressOf} from "../data/http_source";

export class LinkMenu {
  readonly element: HTMLDetailsElement;

  constructor(
    isStatic: boolean, place: () => string, private readonly say: (text: string) => void) {
    const item = (label: string, help: string, text: () => string): HTMLElement => h("p", {},
      h("button", {type: "button", class: "quiet", click: () => void this.copy(text())}, label),
      h("small", {class: "muted"}, help));
    const items = isStatic
      ? [item("Copy address", "of this file, at this place",
          () => location.href.split("#")[0] + place())]
      : [
          item("Copy address with its token",
            "opens in any tab of this machine; who has it can read this run while it is served",
            () => addressOf(place())),
          item("Copy place",
            "the part after #, without the token: paste it into the address of a page that shows this recording",
            place),
        ];
    this.element = h("details", {class: "link-menu"}, h("summary", {class: "quiet"}, "Link"),
      h("div", {class: "menu"}, ...items));
    document.addEventListener("pointerdown", (event) => {
      if (!this.element.contains(event.target as Node)) this.element.open = false;
    });
    this.element.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.element.open) return;
      event.preventDefault();
      this.element.open = false;
    });
  }

  private async copy(text: string): Promise<void> {
    this.element.open = false;
    try {
      await navigator.clipboard.writeText(text);
      this.say("Copied.");
    } catch {
      this.say("The browser does not allow it.");
    }
  }
}
