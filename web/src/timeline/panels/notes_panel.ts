// Notes at places of the run. A server keeps them beside the recording, of two runs each beside its
// own and by its clock; a page in a file keeps them as long as it is open.
import {h} from "../../dom";
import {time} from "../../format";
import type {Note, NotesAnswer} from "../data/protocol";
import {moment} from "../draw/ruler";
import type {Model, RunView} from "../state/model";
import {runLetter} from "../state/places";
import type {Span} from "../state/viewport";

// What a note is of; `span` is of the axis.
export interface Noted {
  run: RunView;
  span: Span;
  place: Partial<Note>;
}

function placeOf({run, span, place}: Noted): Pick<Note, "from"|"to"> {
  return {
    from: Math.round(span.from - run.offset),
    to: Math.round(span.to - run.offset),
    ...place,
  };
}

export class NotesPanel {
  readonly element = h("div", {class: "notes-panel"});
  private readonly list = h("ul", {class: "notes"});
  private readonly said = h("p", {class: "muted", role: "status"});
  private saving = Promise.resolve();
  // What was changed here and is not saved, by run: ids of notes, those that are gone deleted. The
  // rest is as the server last said, which other pages write too.
  private readonly unsaved: Set<string>[];
  private readonly stamps: string[] = [];  // by run
  private early: Note|null = null;         // begun before what it is of was found

  constructor(private readonly model: Model, private readonly go: (span: Span) => void,
    private readonly leave: () => void) {
    this.unsaved = model.runs.map(() => new Set());
    this.element.append(this.said, this.list);
    this.draw();
    void this.load();
  }

  private async load(): Promise<void> {
    await Promise.all(this.model.runs.map((run) => this.loadOf(run)));
    this.changed();
  }

  // Whether they were read; not while somebody types, as that redraws the list.
  private async loadOf(run: RunView): Promise<boolean> {
    try {
      const {notes, writable} = await run.source.call<NotesAnswer>("notes");
      if (this.isTyping) return false;
      this.take(run, notes);
      if (writable) return true;
      const letter = runLetter(this.model, run);
      this.said.textContent = `Notes${
        letter &&
        ` of ${
          letter}`} are kept only while this page is open: there is no place to write them to.`;
      return true;
    } catch (error) {
      this.said.textContent = (error as Error).message;
      return false;
    }
  }

  // `stamp` is another one after the notes of a run were written, by this page or by another.
  async follow(run: RunView, stamp: string): Promise<void> {
    if (this.stamps[run.index] === stamp || this.isTyping) return;
    await this.saving;
    if (!await this.loadOf(run)) return;  // and look again with the next
    this.stamps[run.index] = stamp;
    this.changed();
  }

  private take(run: RunView, notes: readonly Note[]): void {
    const unsaved = this.unsaved[run.index];
    const own = this.model.notesOf(run).filter(({id}) => unsaved.has(id));
    this.model.setNotes(run, [...own, ...notes.filter(({id}) => !unsaved.has(id))]);
  }

  // `early`: of what will be selected in a moment.
  add(noted: Noted, early: boolean): void {
    const {run} = noted;
    const id = `${Date.now().toString(36)}-${this.model.notes.length}`;
    const note: Note = {id, text: "", ...placeOf(noted)};
    this.model.setNotes(run, [...this.model.notesOf(run), note]);
    this.changed(run, note);
    this.inputOf(note)?.focus();
    this.early = early ? note : null;
  }

  get isTyping(): boolean {
    return this.list.contains(document.activeElement);
  }

  // What was to be selected is: a note that was begun before is of that. What is typed stays.
  follows(noted: Noted): void {
    const note = this.early;
    this.early = null;
    if (!note || this.model.runOfNote(note) !== noted.run) return;
    const at = this.inputOf(note)?.selectionStart ?? null;
    Object.assign(note, placeOf(noted));
    this.changed(noted.run, note);
    const input = this.inputOf(note);
    input?.focus();
    input?.setSelectionRange(at, at);
  }

  private inputOf(note: Note): HTMLInputElement|undefined {
    const at = this.model.notes.indexOf(note);
    return this.list.querySelectorAll<HTMLInputElement>("input")[at];
  }

  // A note was made, changed or deleted here; without one, what there is was read.
  private changed(run?: RunView, note?: Note): void {
    this.draw();
    this.model.changed("notes");
    if (run && note) this.save(run, note);
  }

  // What changed, one request after the other.
  private save(run: RunView, note: Note): void {
    if (run.source.isStatic) return;
    const {model} = this;
    const unsaved = this.unsaved[run.index];
    unsaved.add(note.id);
    this.saving = this.saving.then(async () => {
      const sent = [...unsaved];
      if (sent.length === 0) return;
      try {
        const set = model.notesOf(run).filter(({id}) => unsaved.has(id));
        const kept = new Set(set.map(({id}) => id));
        const drop = sent.filter((id) => !kept.has(id));
        unsaved.clear();  // what changes from here on goes with the next
        const {notes} = await run.source.call<NotesAnswer>("notes_put", {set, drop});
        this.said.textContent = "";
        if (this.isTyping) return;  // or it takes what is typed
        this.take(run, notes);
        this.draw();
        model.changed("notes");
      } catch (error) {
        for (const id of sent) unsaved.add(id);
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
    input.addEventListener("blur", () => {
      if (this.early === note) this.early = null;
    });
    input.addEventListener("change", () => {
      model.changed("notes");
      this.save(run, note);
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
        model.setNotes(run, model.notesOf(run).filter((other) => other !== note));
        this.changed(run, note);
      },
    },
      "Delete");
    return h("li", {}, go, input,
      h("span", {class: "muted"}, note.to > note.from ? time(note.to - note.from) : ""), drop);
  }
}
