import {h, prose} from "../dom";

// A part of the page with a heading that the navigation can jump to.
export function section(
  id: string, title: string, lead: string, ...content: (Node|null)[]): HTMLElement {
  return h(
    "section",
    {id, "aria-labelledby": `${id}-title`},
    h("h2", {id: `${id}-title`}, title),
    lead ? h("p", {class: "lead"}, ...prose(lead)) : null,
    ...content,
  );
}
