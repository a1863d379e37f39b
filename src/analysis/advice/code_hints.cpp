#include "analysis/advice/code_hints.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <string_view>
#include <utility>

#include "analysis/advice/thresholds.h"
#include "analysis/lines/source_place.h"

namespace batchlight::advice {
namespace {

// Once for each of the table's macros: the others are empty then.
#define HINT(kind, before_workers, text)
#define MODULE(name, kind)
#define MODULE_FILE(end, kind)
#define LINE(text, kind)
#define GROWS(kind)
#define CHOOSES(kind)
#define IN_LIST(kind)
#define BY_ITSELF(kind)

enum Kind : uint8_t {
#undef HINT
#define HINT(kind, before_workers, text) kind,
#include "analysis/advice/code_hints.def"
  kKinds
};

struct Hint {
  std::string_view text;
  bool before_workers;
};

constexpr Hint kHints[] = {
#undef HINT
#define HINT(kind, before_workers, text) {text, before_workers},
#include "analysis/advice/code_hints.def"
#undef HINT
#define HINT(kind, before_workers, text)
};

struct Known {
  std::string_view text;
  Kind kind;
};

constexpr Known kModules[] = {
#undef MODULE
#define MODULE(name, kind) {name, kind},
#include "analysis/advice/code_hints.def"
#undef MODULE
#define MODULE(name, kind)
};

constexpr Known kFiles[] = {
#undef MODULE_FILE
#define MODULE_FILE(end, kind) {end, kind},
#include "analysis/advice/code_hints.def"
#undef MODULE_FILE
#define MODULE_FILE(end, kind)
};

constexpr Known kLines[] = {
#undef LINE
#define LINE(text, kind) {text, kind},
#include "analysis/advice/code_hints.def"
#undef LINE
#define LINE(text, kind)
};

constexpr Kind kByItself[] = {
#undef BY_ITSELF
#define BY_ITSELF(kind) kind,
#include "analysis/advice/code_hints.def"
#undef BY_ITSELF
#define BY_ITSELF(kind)
};

bool IsOfName(char letter) {
  return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

// Whether a line has the text, not as the end of a longer name.
bool Holds(std::string_view line, std::string_view text) {
  for (size_t at = line.find(text); at != line.npos; at = line.find(text, at + 1)) {
    if (at == 0 || !IsOfName(text.front()) || !IsOfName(line[at - 1])) return true;
  }
  return false;
}

// What stands between a parenthesis that was opened before `text` and its end.
std::string_view UntilClosed(std::string_view text) {
  int open = 1;
  for (size_t at = 0; at < text.size(); ++at) {
    open += text[at] == '(' ? 1 : text[at] == ')' ? -1 : 0;
    if (open == 0) return text.substr(0, at);
  }
  return text;
}

// "seen = torch.cat([seen, x])": what is joined has what it was before. A state that a cell makes
// of itself and of what is joined, "h = cell(torch.cat([x, c]), h)", does not grow.
bool Grows(std::string_view line) {
  constexpr std::string_view kJoins[] = {"cat(", "concat(", "concatenate(", "vstack(", "hstack("};
  const size_t equals = line.find(" = ");
  if (equals == line.npos) return false;
  const std::string_view target = line.substr(0, equals), value = line.substr(equals + 3);
  return std::any_of(std::begin(kJoins), std::end(kJoins), [&](std::string_view join) {
    const size_t at = value.find(join);
    return at != value.npos && Holds(value, join) &&
           Holds(UntilClosed(value.substr(at + join.size())), target);
  });
}

// "items[users == user]": an index by a comparison.
bool ChoosesByValue(std::string_view line) {
  const size_t opens = line.find('['), equals = line.find(" == ");
  if (opens == line.npos || equals == line.npos || equals < opens || opens == 0) return false;
  return IsOfName(line[opens - 1]) && line.find(']', equals) != line.npos &&
         line.substr(opens, equals - opens).find(" for ") == std::string_view::npos;
}

// "if word not in stop_words": a question, not a loop's "for word in words".
bool AsksWhetherIn(std::string_view line) {
  if (line.find(" not in ") != line.npos) return true;
  const size_t asks = line.find("if ");
  return asks != line.npos && line.find(" in ", asks) != line.npos &&
         line.find(" for ", asks) == line.npos;
}

Kind KindOfFile(const Store& store, std::string_view file) {
  const std::string_view module = InstalledModule(store, file);
  if (module.empty()) return kKinds;
  const auto* const one =
      std::find_if(std::begin(kFiles), std::end(kFiles),
                   [&](const Known& known) { return file.ends_with(known.text); });
  if (one != std::end(kFiles)) return one->kind;
  const auto* const found = std::find_if(std::begin(kModules), std::end(kModules),
                                         [&](const Known& known) { return known.text == module; });
  return found == std::end(kModules) ? kKinds : found->kind;
}

Kind KindOfLine(std::string_view line) {
  if (line.empty() || line.front() == '#') return kKinds;
#undef GROWS
#define GROWS(kind) \
  if (Grows(line)) return kind;
#include "analysis/advice/code_hints.def"
  const auto* const found = std::find_if(std::begin(kLines), std::end(kLines),
                                         [&](const Known& one) { return Holds(line, one.text); });
  if (found != std::end(kLines)) return found->kind;
#undef CHOOSES
#define CHOOSES(kind) \
  if (ChoosesByValue(line)) return kind;
#undef IN_LIST
#define IN_LIST(kind) \
  if (AsksWhetherIn(line)) return kind;
#undef GROWS
#define GROWS(kind)
#include "analysis/advice/code_hints.def"
  return kKinds;
}

#undef HINT
#undef MODULE
#undef MODULE_FILE
#undef LINE
#undef GROWS
#undef CHOOSES
#undef IN_LIST
#undef BY_ITSELF

// What the line of a function takes for what its text says.
int64_t NsOf(Kind kind, const SampledFunction& function) {
  const bool by_itself =
      std::find(std::begin(kByItself), std::end(kByItself), kind) != std::end(kByItself);
  return by_itself ? function.alone_ns : function.line_ns;
}

CodeHint TextOf(Kind kind) {
  if (kind == kKinds) return {};
  return {.text = std::string(kHints[kind].text), .before_workers = kHints[kind].before_workers};
}

// The kind that most of a time is of, if that is a third of it.
class Kinds {
 public:
  void Add(Kind kind, int64_t ns) { ns_[kind] += ns; }
  // What is written out again and again is what is read.
  void JoinWritten() {
    if (double(ns_[kSerialized]) < kHintWritten * double(ns_[kParsing])) return;
    ns_[kSerialized] += std::exchange(ns_[kParsing], 0);
  }
  Kind Most(int64_t all_ns) const {
    const auto most = std::max_element(ns_.begin(), ns_.end() - 1);
    const bool is_enough = *most > 0 && double(*most) >= kHintShare * double(all_ns);
    return is_enough ? static_cast<Kind>(most - ns_.begin()) : kKinds;
  }

 private:
  std::array<int64_t, kKinds + 1> ns_{};  // the last one is of no kind
};

}  // namespace

CodeHint HintFor(const Store& store, const SampledTime& time) {
  Kinds of_modules, of_lines;
  for (const SampledFunction& function : time.innermost) {
    of_modules.Add(KindOfFile(store, store.Text(function.file)), function.ns);
  }
  for (const SampledFunction& function : time.functions) {
    const Kind kind = KindOfLine(store.Text(function.text));
    of_lines.Add(kind, NsOf(kind, function));
  }
  of_modules.JoinWritten();
  of_lines.JoinWritten();
  const Kind kind = of_modules.Most(time.all_ns);
  return TextOf(kind != kKinds ? kind : of_lines.Most(time.all_ns));
}

CodeHint HintFor(const Store& store, const SampledFunction& function) {
  const Kind kind = KindOfLine(store.Text(function.text));
  const bool is_enough = double(NsOf(kind, function)) >= kHintShare * double(function.ns);
  return is_enough ? TextOf(kind) : CodeHint();
}

}  // namespace batchlight::advice
