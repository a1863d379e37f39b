// Every key of the timeline, once: what it does and how the list of keys says it. Letters go by
// their place on the keyboard, so that W A S D lie together on every layout.

export type Action =
  "zoom_in"|"zoom_out"|"pan_left"|"pan_right"|"frame"|"all"|"mark"|"note"|"search"|"find_next"|
  "find_previous"|"before"|"after"|"parent"|"child"|"left_event"|"right_event"|"link_forward"|
  "link_back"|"other_link"|"to_range"|"tracks"|"help"|"longest"|"next_same"|"previous_same"|
  "next_gap"|"previous_gap"|"longest_gap"|"clear"|"step_range"|"fold"|"first"|"last";

export interface Key {
  action: Action;
  code?: string;  // KeyboardEvent.code
  key?: string;   // KeyboardEvent.key
  shift?: boolean;
  ctrl?: boolean;
  shown: string;
  help: string;
}

export const kKeys: readonly Key[] = [
  {action: "zoom_in", code: "KeyW", shown: "W", help: "zoom in, at the pointer"},
  {action: "zoom_out", code: "KeyS", shown: "S", help: "zoom out"},
  {action: "zoom_in", key: "+", shown: "+", help: "zoom in"},
  {action: "zoom_in", key: "=", shown: "=", help: "zoom in"},
  {action: "zoom_out", key: "-", shown: "-", help: "zoom out"},
  {action: "pan_left", code: "KeyA", shown: "A", help: "earlier"},
  {action: "pan_right", code: "KeyD", shown: "D", help: "later"},
  {
    action: "frame",
    code: "KeyF",
    shown: "F",
    help: "fit the range or the selected event to the window"
  },
  {action: "all", key: "0", shown: "0", help: "show the whole run"},
  {action: "first", key: "Home", shown: "Home", help: "go to the start of the run"},
  {action: "last", key: "End", shown: "End", help: "go to the end of the run"},
  {action: "left_event", key: "ArrowLeft", shown: "←", help: "the event before in the row"},
  {action: "right_event", key: "ArrowRight", shown: "→", help: "the event after in the row"},
  {action: "parent", key: "ArrowUp", shown: "↑", help: "the event around, or the row above"},
  {action: "child", key: "ArrowDown", shown: "↓", help: "the first event inside, or the row below"},
  {action: "before", key: ",", shown: ",", help: "the event before in the row"},
  {action: "after", key: ".", shown: ".", help: "the event after in the row"},
  {
    action: "link_forward",
    key: "]",
    shown: "]",
    help: "follow a link: launch to kernel, forward to backward, to the next rank"
  },
  {action: "link_back", key: "[", shown: "[", help: "follow a link backward: kernel to launch"},
  {
    action: "other_link",
    key: "]",
    ctrl: true,
    shown: "Ctrl+]",
    help: "of several links from where the last one began, the next: another rank, another kernel"
  },
  {
    action: "longest",
    code: "KeyL",
    shown: "L",
    help: "the longest event of this name; again: the second longest, ..."
  },
  {action: "next_same", code: "KeyN", shown: "N", help: "the next event of this name"},
  {
    action: "previous_same",
    code: "KeyN",
    shift: true,
    shown: "Shift+N",
    help: "the previous event of this name"
  },
  {action: "next_gap", code: "KeyG", shown: "G", help: "the next idle gap of a GPU"},
  {
    action: "previous_gap",
    code: "KeyG",
    shift: true,
    shown: "Shift+G",
    help: "the previous idle gap of a GPU"
  },
  {
    action: "longest_gap",
    code: "KeyI",
    shown: "I",
    help:
      "the longest idle gap of a GPU in the steps that count (without a GPU: the longest data loading, or phase \"other\"); again: the second longest, ..."
  },
  {action: "to_range", code: "KeyR", shown: "R", help: "the selected event's time as the range"},
  {
    action: "step_range",
    code: "KeyT",
    shown: "T",
    help: "the step around as the range, with the tables of the report"
  },
  {
    action: "mark",
    code: "KeyM",
    shown: "M",
    help: "shade the selected event's time; again, or with nothing selected: no more"
  },
  {
    action: "note",
    code: "KeyM",
    shift: true,
    shown: "Shift+M",
    help: "write a note to the selected event, the range or the middle of the window"
  },
  {
    action: "fold",
    key: "Enter",
    shown: "Enter",
    help: "fold or unfold the track of the selected event"
  },
  {action: "search", key: "/", shown: "/", help: "search names"},
  {
    action: "find_next",
    key: "Enter",
    shown: "Enter in the search",
    help: "the next event that the search finds"
  },
  {
    action: "find_previous",
    key: "Enter",
    shift: true,
    shown: "Shift+Enter in the search",
    help: "the previous one"
  },
  {action: "tracks", code: "KeyP", ctrl: true, shown: "Ctrl+P", help: "show only some tracks"},
  {
    action: "clear",
    key: "Escape",
    shown: "Escape",
    help: "drop the range, then the selection, the search, what M shaded"
  },
  {action: "help", key: "?", shown: "?", help: "this list"},
];

export interface Pressed {
  code: string;
  key: string;
  shiftKey: boolean;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
}

const kInSearch: readonly Action[] = ["find_next", "find_previous"];

// What has the focus, as far as keys of its own go.
export interface Focused {
  tag: string;  // "INPUT"
  type: string;
  role: string;
  editable: boolean;
}

const kNoText = ["checkbox", "radio", "button", "submit", "range"];  // types of <input>
const kPressed = ["BUTTON", "A", "SUMMARY"];                         // by Enter
const kArrowRoles = ["tab", "separator"];                            // go by arrows themselves
const kMoves = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"];

// Whether a key belongs to what has the focus, not to the timeline: all that types, Enter on what
// it presses, arrows between tabs.
export function isTaken(key: string, {tag, type, role, editable}: Focused): boolean {
  if (editable || tag === "TEXTAREA" || tag === "SELECT") return true;
  if (tag === "INPUT") return !kNoText.includes(type) || key === "Enter";
  if (key === "Enter") return kPressed.includes(tag) || role === "tab";
  return kArrowRoles.includes(role) && kMoves.includes(key);
}

// What a key does in the timeline.
export function actionOf(pressed: Pressed): Action|null {
  if (pressed.altKey) return null;
  const ctrl = pressed.ctrlKey || pressed.metaKey;
  const found = kKeys.find((key) => {
    if (kInSearch.includes(key.action) || (key.ctrl ?? false) !== ctrl) return false;
    if (key.code !== undefined)
      return key.code === pressed.code && (key.shift ?? false) === pressed.shiftKey;
    return key.key === pressed.key;  // the letter says whether it needs shift
  });
  return found?.action ?? null;
}
