import {h} from "../../dom";
import {kKeys} from "../input/keys";

const kMouse: [string, string][] = [
  ["click", "select an event"],
  ["double click", "fit it to the window"],
  ["drag", "select a stretch of time; its ends stick to events, Alt lets go"],
  ["Shift + drag, middle button", "move"],
  ["wheel", "scroll the tracks"],
  ["Ctrl + wheel, pinch", "zoom at the pointer"],
  ["Shift + wheel", "move sideways"],
];

const kOffKey = "batchlight-timeline-keys-off";

export class HelpDialog {
  readonly element: HTMLDialogElement;
  lettersOff = false;

  constructor() {
    try {
      this.lettersOff = localStorage.getItem(kOffKey) === "1";
    } catch {
      // storage is off: the keys are on
    }
    const box = h("input", {type: "checkbox", checked: this.lettersOff});
    box.addEventListener("change", () => {
      this.lettersOff = box.checked;
      try {
        localStorage.setItem(kOffKey, box.checked ? "1" : "0");
      } catch {
        // the choice then lasts as long as the page
      }
    });
    const rows = [...kKeys.map(({shown, help}): [string, string] => [shown, help]), ...kMouse];
    const list = rows.flatMap(([key, help]) => [h("dt", {}, h("kbd", {}, key)), h("dd", {}, help)]);
    this.element = h("dialog", {class: "help-dialog", "aria-labelledby": "keys-title"},
      h("h2", {id: "keys-title", tabindex: "-1", autofocus: true}, "Keys and mouse"),
      h("dl", {}, ...list),
      h("label", {}, box, " Keys of one letter are off (arrows, Enter and Escape stay)"),
      h("form", {method: "dialog"}, h("button", {class: "quiet"}, "Close")));
  }

  show(): void {
    if (!this.element.open) this.element.showModal();
  }
}
