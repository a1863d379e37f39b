#include "cli/reference/complete.h"

#include <algorithm>

#include "base/split.h"
#include "cli/flags/flags.h"

namespace batchlight::cli {
namespace {

enum class How { Run, File, Folder, Known, Free };

How HowToComplete(std::string_view value_name) {
#define VALUE(name, how) \
  if (value_name == name) return How::how;
#include "cli/reference/value_names.def"
#undef VALUE
  return How::Free;
}

// One line for a menu: the first of the help, at most so long.
std::string Short(const std::string& help) {
  constexpr size_t kMost = 60;
  const std::string line = help.substr(0, help.find('\n'));
  if (line.size() <= kMost) return line;
  return line.substr(0, line.rfind(' ', kMost)) + " ...";
}

class Completer {
 public:
  Completer(const std::vector<std::string>& words, const KnownValues& known)
      : words_(words), known_(known), current_(words.back()) {}

  Completion Run(const CommandReference& all) {
    const CommandReference* command = &all;
    size_t first = 0;
    while (first + 1 < words_.size() && !command->commands.empty()) {
      const CommandReference* below = command->Find(words_[first]);
      if (below == nullptr) break;
      command = below;
      ++first;
    }
    all_ = &all;
    Walk(*command, first);
    return std::move(result_);
  }

 private:
  // From the word after the command's name on.
  void Walk(const CommandReference& command, size_t first) {
    const FlagReference* waiting = nullptr;  // its value is the next word
    bool flags_are_over = false;
    size_t words_given = 0;
    for (size_t i = first; i + 1 < words_.size(); ++i) {
      const std::string& word = words_[i];
      if (waiting != nullptr) {
        waiting = nullptr;
        continue;
      }
      const bool is_flag = !flags_are_over && word.size() > 1 && word[0] == '-';
      if (word == "--" || (command.takes_program && !is_flag)) {
        if (command.takes_program) return TakeProgram(word == "--" ? i + 1 : i);
        flags_are_over = true;
      } else if (is_flag) {
        const FlagReference* flag = command.FindFlag(word);
        if (flag == nullptr || flag->values.empty()) continue;
        if (!flag->value_is_optional) waiting = flag;
        const bool takes_next = words_[i + 1] == "true" || words_[i + 1] == "false";
        if (flag->value_is_optional && takes_next && i + 2 < words_.size()) ++i;
      } else {
        ++words_given;
      }
    }
    if (waiting != nullptr) return AddValues(*waiting, 0);
    const size_t equals = current_.find('=');
    if (!flags_are_over && current_.starts_with("--") && equals != std::string::npos) {
      const FlagReference* flag = command.FindFlag(current_.substr(0, equals));
      if (flag != nullptr) AddValues(*flag, equals + 1);
      return;
    }
    AddWords(command, first, words_given);
    const bool wants_flag =
        current_.starts_with("-") ||
        (current_.empty() && result_.candidates.empty() && result_.shell == ShellWords::kNone);
    if (!flags_are_over && wants_flag) AddFlags(command);
    if (command.takes_program && !current_.starts_with("-")) TakeProgram(words_.size() - 1);
  }

  void TakeProgram(size_t index) {
    result_.shell = ShellWords::kProgram;
    result_.program = index;
    result_.candidates.clear();
  }

  void AddWords(const CommandReference& command, size_t first, size_t given) {
    if (current_.starts_with("-")) return;
    if (!command.commands.empty()) {
      if (given > 0) return;
      for (const CommandReference& below : command.commands) Add("", below.verb(), below.sentence);
      return;
    }
    if (command.words.empty()) return;
    if (command.words[0].name == "COMMAND") return AddCommands(first);
    if (given >= command.words.size() && !command.words.back().repeats) return;
    const WordReference& word = command.words[std::min(given, command.words.size() - 1)];
    AddAlternatives(word.values, 0, 0);
    // A table's name may stand before the runs or after the first.
    if (given <= 1 && command.words[0].name == "TABLE") {
      AddNamed(given == 0 ? "RUN" : "TABLE", 0, 0);
    }
  }

  // `help trace`: what may follow the commands named so far.
  void AddCommands(size_t first) {
    const CommandReference* command = all_;
    for (size_t i = first; i + 1 < words_.size() && command != nullptr; ++i) {
      command = command->Find(words_[i]);
    }
    if (command == nullptr) return;
    for (const CommandReference& below : command->commands) Add("", below.verb(), below.sentence);
  }

  void AddFlags(const CommandReference& command) {
    for (const FlagReference& flag : command.flags) {
      if (flag.without_effect) continue;
      for (const std::string& name : flag.names) {
        const bool is_long = name.starts_with("--");
        if (!is_long && current_ != "-" && current_ != name) continue;
        Add("", name, Short(flag.help));
      }
    }
  }

  // The value of a flag begins at `begin` of the current word.
  void AddValues(const FlagReference& flag, size_t begin) {
    std::string_view grammar = flag.values;
    const bool is_list = grammar.ends_with(",...");
    if (is_list) grammar.remove_suffix(4);
    const size_t comma = is_list ? current_.rfind(',') : std::string::npos;
    const size_t item = comma == std::string::npos || comma < begin ? begin : comma + 1;
    AddAlternatives(grammar, begin, item);
  }

  void AddAlternatives(std::string_view grammar, size_t begin, size_t item) {
    for (const std::string_view alternative : SplitAt(grammar, '|')) {
      if (IsLiteral(alternative)) {
        Add(current_.substr(0, item), std::string(alternative), "");
      } else {
        AddNamed(alternative, begin, item);
      }
    }
  }

  void AddNamed(std::string_view value_name, size_t begin, size_t item) {
    result_.value_begin = begin;
    switch (HowToComplete(value_name)) {
      case How::Run:
        result_.shell = ShellWords::kRuns;
        break;
      case How::File:
        result_.shell = ShellWords::kFiles;
        break;
      case How::Folder:
        result_.shell = ShellWords::kFolders;
        break;
      case How::Known:
        for (const Candidate& candidate : known_(value_name)) {
          Add(current_.substr(0, item), candidate.word, Short(candidate.what));
        }
        break;
      case How::Free:
        break;
    }
  }

  void Add(const std::string& before, const std::string& word, const std::string& what) {
    std::string whole = before + word;
    if (!whole.starts_with(current_)) return;
    result_.candidates.push_back({std::move(whole), what});
  }

  const std::vector<std::string>& words_;
  const KnownValues& known_;
  const std::string& current_;
  const CommandReference* all_ = nullptr;
  Completion result_;
};

}  // namespace

Completion Complete(const CommandReference& all, const std::vector<std::string>& words,
                    const KnownValues& known) {
  if (words.empty()) return {};
  return Completer(words, known).Run(all);
}

std::string CompletionText(const Completion& completion) {
  std::string text = ":";
  switch (completion.shell) {
    case ShellWords::kNone:
      break;
    case ShellWords::kRuns:
      text += "runs " + std::to_string(completion.value_begin);
      break;
    case ShellWords::kFiles:
      text += "files " + std::to_string(completion.value_begin);
      break;
    case ShellWords::kFolders:
      text += "folders " + std::to_string(completion.value_begin);
      break;
    case ShellWords::kProgram:
      text += "program " + std::to_string(completion.program);
      break;
  }
  text += "\n";
  for (const Candidate& candidate : completion.candidates) {
    text += candidate.word + (candidate.what.empty() ? "" : "\t" + candidate.what) + "\n";
  }
  return text;
}

}  // namespace batchlight::cli
