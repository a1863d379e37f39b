import {h} from "../dom";

// A choice of one among a few: radio buttons that look like one control. Empty if there is no
// choice.
export function choice(
  legend: string,
  labels: string[],
  chosen: number,
  onChoose: (index: number) => void,
  ): HTMLElement|null {
  if (labels.length < 2) return null;
  const options = labels.map((label, i) => {
    const input = h("input", {type: "radio", name: legend, checked: i === chosen});
    input.addEventListener("change", () => onChoose(i));
    return h("label", {}, input, h("span", {}, label));
  });
  return h("fieldset", {class: "choice"}, h("legend", {class: "hidden"}, legend), ...options);
}
