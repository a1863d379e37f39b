// Notes at places of the run. A server keeps them beside the recording; a page in a file keeps
// them as long as it is open.
import {h} from "../../dom";
import {time} from "../../format";
import type {Note, NotesAnswer} from "../data/protocol";
import {moment} from "../draw/ruler";
import type {Model} from "../state/model";
import type {Span} from "../state/viewport";

export class NotesPanel {
  readonly element = h("div", {class: "notes-panel"});
  private readonly list = h("ul", {class: "notes"});
  private readonly said = h("p", {class: "muted", role: "status"});
  private saving = Promise.resolve();
  // Notes that this page has seen. The server keeps others, which another page wrote, or which were
  // not read; those that are known and gone were deleted here.
  private readonly known = new Set<string>();

  constructor(private readonly model: Model, private readonly go: (span: Span) => void,
    private readonly leave: () => void) {
    this.element.append(this.said, this.list);
    this.draw();
    void this.load();
  }

  private async load(): Promise<void> {
    try {
      const {notes, writable} = await this.model.first.source.call<NotesAnswer>("notes");
      this.take(notes);
      this.said.textContent = writable
        ? ""
        : "Notes are kept only while this page is open: there is no place to write them to.";
    } catch (error) {
      this.said.textContent = (error as Error).message;
    }
    this.changed(false);
  }

  private take(notes: readonly Note[]): void {
    const others = notes.filter(({id}) => !this.known.has(id));
    for (const {id} of others) this.known.add(id);
    this.model.notes = [...others, ...this.model.notes].sort((a, b) => a.from - b.from);
  }

  add(span: Span, place: Partial<Note>): void {
    const note: Note = {
      id: `${Date.now().toString(36)}-${this.model.notes.length}`,
      text: "",
      from: Math.round(span.from),
      to: Math.round(span.to),
      ...place
    };
    this.known.add(note.id);
    this.model.notes.push(note);
    this.changed(true);
    const at = this.model.notes.indexOf(note);
    this.list.querySelectorAll<HTMLInputElement>("input")[at]?.focus();
  }

  private changed(save: boolean): void {
    this.model.notes.sort((a, b) => a.from - b.from);
    this.draw();
    this.model.changed("notes");
    if (save) this.save();
  }

  // One after the other: the last state wins.
  private save(): void {
    if (this.model.first.source.isStatic) return;
    this.saving = this.saving.then(async () => {
      try {
        const sent = {notes: this.model.notes, known: [...this.known]};
        const {notes} = await this.model.first.source.call<NotesAnswer>("notes_put", sent);
        this.said.textContent = "";
        if (notes.every(({id}) => this.known.has(id))) return;
        this.take(notes);
        if (!this.list.contains(document.activeElement)) this.draw();  // or it takes what is typed
        this.model.changed("notes");
      } catch (error) {
        this.said.textContent = `Not saved: ${(error as Error).message}`;
      }
    });
  }

  private draw(): void {
    const {notes} = this.model;
    const empty = h("li", {class: "muted"},
      "No notes. Shift+M writes one to the selected event, the range or the middle of the window.");
    this.list.replaceChildren(
      ...(notes.length > 0 ? notes.map((note) => this.item(note)) : [empty]));
  }

  private item(note: Note): HTMLElement {
    const input = h("input", {
      type: "text",
      value: note.text,
      "aria-label": `Note at ${moment(note.from, 1000)}`,
      placeholder: "What is here?"
    });
    // At once: what is typed stays, whatever takes the field away before its end is told.
    input.addEventListener("input", () => {
      note.text = input.value;
    });
    input.addEventListener("change", () => {
      this.model.changed("notes");
      this.save();
    });
    input.addEventListener("keydown", (event) => {
      if ((event.key !== "Enter" && event.key !== "Escape") || event.isComposing) return;
      event.preventDefault();
      this.leave();
    });
    const go = h("button", {type: "button", class: "quiet", click: () => this.go(note)},
      moment(note.from, 1000));
    const drop = h("button", {
      type: "button",
      class: "quiet",
      "aria-label": `Delete the note at ${moment(note.from, 1000)}`,
      click: () => {
        this.model.notes = this.model.notes.filter((other) => other !== note);
        this.changed(true);
      },
    },
      "Delete");
    return h("li", {}, go, input,
      h("span", {class: "muted"}, note.to > note.from ? time(note.to - note.from) : ""), drop);
  }
}
