// What somebody may have meant who looked for a name that no event has: for a page in a file what
// src/timeline/answers/near_names says, and src/base/nearest.

const kMostNames = 10_000;  // that are compared, by falling time
const kMostLetters = 60;    // of a name that is compared
const kMostCut = 300;       // of a name whose parts are
const kSaid = 3;
const kFewLetters = 3;  // fewer are in any word

// Edits between the words: letters added, dropped, replaced, and neighbours swapped.
function distance(a: string, b: string): number {
  const table = Array.from({length: a.length + 1},
    (_, i) => Array.from({length: b.length + 1},
      (_, j) => i === 0 ? j
        : j === 0       ? i
                        : 0));
  for (let i = 1; i <= a.length; ++i) {
    for (let j = 1; j <= b.length; ++j) {
      const replaced = table[i - 1][j - 1] + (a[i - 1] === b[j - 1] ? 0 : 1);
      table[i][j] = Math.min(replaced, table[i - 1][j] + 1, table[i][j - 1] + 1);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        table[i][j] = Math.min(table[i][j], table[i - 2][j - 2] + 1);
    }
  }
  return table[a.length][b.length];
}

function nearestFew(word: string, known: readonly string[]): string[] {
  return known
    .map((name) => {
      const holds =
        word !== "" && (name.includes(word) || (name.length >= kFewLetters && word.includes(name)));
      return {name, score: Math.min(distance(word, name), holds ? 2 : Infinity)};
    })
    .filter(({name, score}) => score <= Math.floor(Math.max(word.length, name.length) / 2))
    .sort((a, b) => a.score - b.score)
    .slice(0, kSaid)
    .map(({name}) => name);
}

// "linear" of "aten::linear", "load" of "train.py:7(load)".
function ownParts(whole: string): string[] {
  const inner = whole.endsWith(")") ? whole.slice(0, -1) : whole;
  const begins = [...inner.matchAll(/[:.#(/]+(?=[^:.#(/])/g)].map(
    ({0: between, index = 0}) => index + between.length);
  // "7(load" is no name.
  return [whole, ...begins.map((at) => inner.slice(at)).filter((part) => !part.includes("("))];
}

// `names` by falling time.
export function nearNamesText(names: readonly string[], text: string): string {
  const known = new Set<string>();
  for (const part of names.slice(0, kMostNames)
         .flatMap((name) => name.length <= kMostCut ? ownParts(name) : [])) {
    const longer = Math.max(part.length, text.length);
    const shorter = Math.min(part.length, text.length);
    if (part !== "" && longer <= kMostLetters && 2 * shorter >= longer) known.add(part);
  }
  const near = nearestFew(text, [...known].sort((a, b) => a < b ? -1 : 1));
  const most = [...new Set(names.filter((name) => name !== ""))].slice(0, kSaid);
  if (near.length > 0) return `; did you mean ${listed(near, "or")}?`;
  if (most.length === 0) return "";
  const quoted = most.map((name) => `"${name.slice(0, kMostLetters)}"`);
  return `; the names with most time are ${listed(quoted, "and")}`;
}

function listed(words: readonly string[], last: string): string {
  if (words.length === 1) return words[0];
  return `${words.slice(0, -1).join(", ")} ${last} ${words[words.length - 1]}`;
}
