// Notes at places of the run. A server keeps them beside the recording, of two runs each beside its
// own and by its clock; a page in a file keeps them as long as it is open.
import {h} from "../../dom";
import {time} from "../../format";
import type {Note, NotesAnswer} from "../data/protocol";
import {moment} from "../draw/ruler";
import type {Model, RunView} from "../state/model";
import {runLetter} from "../state/places";
import type {Span} from "../state/viewport";

export class NotesPanel {
  readonly element = h("div", {class: "notes-panel"});
  private readonly list = h("ul", {class: "notes"});
  private readonly said = h("p", {class: "muted", role: "status"});
  private saving = Promise.resolve();
  // Notes that this page has seen, by run. The server keeps others, which another page wrote, or
  // which were not read; those that are known and gone were deleted here.
  private readonly known: Set<string>[];

  constructor(private readonly model: Model, private readonly go: (span: Span) => void,
    private readonly leave: () => void) {
    this.known = model.runs.map(() => new Set());
    this.element.append(this.said, this.list);
    this.draw();
    void this.load();
  }

  private async load(): Promise<void> {
    await Promise.all(this.model.runs.map((run) => this.loadOf(run)));
    this.changed(null);
  }

  private async loadOf(run: RunView): Promise<void> {
    try {
      const {notes, writable} = await run.source.call<NotesAnswer>("notes");
      this.take(run, notes);
      if (writable) return;
      const letter = runLetter(this.model, run);
      this.said.textContent = `Notes${
        letter &&
        ` of ${
          letter}`} are kept only while this page is open: there is no place to write them to.`;
    } catch (error) {
      this.said.textContent = (error as Error).message;
    }
  }

  private take(run: RunView, notes: readonly Note[]): void {
    const known = this.known[run.index];
    const others = notes.filter(({id}) => !known.has(id));
    for (const {id} of others) known.add(id);
    this.model.addNotes(run, others);
  }

  // `span` is of the axis.
  add(run: RunView, span: Span, place: Partial<Note>): void {
    const note: Note = {
      id: `${Date.now().toString(36)}-${this.model.notes.length}`,
      text: "",
      from: Math.round(span.from - run.offset),
      to: Math.round(span.to - run.offset),
      ...place
    };
    this.known[run.index].add(note.id);
    this.model.addNotes(run, [note]);
    this.changed(run);
    const at = this.model.notes.indexOf(note);
    this.list.querySelectorAll<HTMLInputElement>("input")[at]?.focus();
  }

  // Those of a run, which are saved; null: what there is was read.
  private changed(run: RunView|null): void {
    this.model.sortNotes();
    this.draw();
    this.model.changed("notes");
    if (run) this.save(run);
  }

  // One after the other: the last state wins.
  private save(run: RunView): void {
    if (run.source.isStatic) return;
    const {model} = this;
    const known = this.known[run.index];
    this.saving = this.saving.then(async () => {
      try {
        const own = model.notes.filter((note) => model.runOfNote(note) === run);
        const {notes} =
          await run.source.call<NotesAnswer>("notes_put", {notes: own, known: [...known]});
        this.said.textContent = "";
        if (notes.every(({id}) => known.has(id))) return;
        this.take(run, notes);
        if (!this.list.contains(document.activeElement)) this.draw();  // or it takes what is typed
        model.changed("notes");
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
    const {model} = this;
    const run = model.runOfNote(note);
    const letter = runLetter(model, run);
    const when = moment(note.from, 1000) + (letter && ` of ${letter}`);
    const input = h("input", {
      type: "text",
      value: note.text,
      "aria-label": `Note at ${when}`,
      placeholder: "What is here?"
    });
    // At once: what is typed stays, whatever takes the field away before its end is told.
    input.addEventListener("input", () => {
      note.text = input.value;
    });
    input.addEventListener("change", () => {
      model.changed("notes");
      this.save(run);
    });
    input.addEventListener("keydown", (event) => {
      if ((event.key !== "Enter" && event.key !== "Escape") || event.isComposing) return;
      event.preventDefault();
      this.leave();
    });
    const go = h("button",
      {type: "button", class: "quiet", click: () => this.go(model.spanOfNote(note))}, when);
    const drop = h("button", {
      type: "button",
      class: "quiet",
      "aria-label": `Delete the note at ${when}`,
      click: () => {
        model.notes = model.notes.filter((other) => other !== note);
        this.changed(run);
      },
    },
      "Delete");
    return h("li", {}, go, input,
      h("span", {class: "muted"}, note.to > note.from ? time(note.to - note.from) : ""), drop);
  }
}
