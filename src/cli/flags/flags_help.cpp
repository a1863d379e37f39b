// The flag table as text for people: --help and docs/cli-profile.md.
#include <algorithm>

#include "cli/flags/flags.h"

namespace batchlight::cli {
namespace {

constexpr size_t kHelpColumn = 32;
constexpr size_t kHelpWidth = 98;

std::string Spelling(const FlagSpec& spec) {
  std::string text = spec.short_name != 0 ? std::string("-") + spec.short_name + ", " : "    ";
  return text + "--" + std::string(spec.name);
}

// `text` broken into lines that fit beside the column of names.
std::string Wrap(std::string_view text) {
  std::string wrapped;
  size_t column = kHelpColumn;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    if (column + end > kHelpWidth && column > kHelpColumn) {
      wrapped.pop_back();
      wrapped += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    }
    wrapped += text.substr(0, end);
    wrapped += ' ';
    column += end + 1;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  while (!wrapped.empty() && wrapped.back() == ' ') wrapped.pop_back();
  return wrapped;
}

std::string Values(const FlagSpec& spec) {
  std::string values(spec.values);
  if (spec.IsList()) values.replace(values.size() - 4, 4, "[,...]");
  if (!spec.default_value.empty()) values += " (" + std::string(spec.default_value) + ")";
  return values;
}

std::string_view StatusNote(FlagStatus status) {
  switch (status) {
    case FlagStatus::kWorks:
      return "";
    case FlagStatus::kLater:
      return "Not traced yet: accepted, and said in one line. ";
    case FlagStatus::kNoEffect:
      return "Accepted, no effect, and said in one line. ";
    case FlagStatus::kAlways:
      return "Accepted, always so. ";
  }
  return "";
}

std::string EscapeCell(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|' || c == '\\' || c == '*') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

}  // namespace

std::string HelpText(Verb verb, std::string_view usage) {
  std::string text(usage);
  std::string silent;
  for (const FlagSpec& spec : kFlags) {
    if (spec.verbs.find(static_cast<char>(verb)) == std::string_view::npos) continue;
    if (spec.status == FlagStatus::kLater || spec.status == FlagStatus::kNoEffect) {
      silent += (silent.empty() ? "--" : ", --") + std::string(spec.name);
      continue;
    }
    std::string line = "  " + Spelling(spec);
    line.resize(std::max(line.size() + 1, kHelpColumn), ' ');
    text +=
        line + Wrap(Values(spec)) + "\n" + std::string(kHelpColumn, ' ') + Wrap(spec.help) + "\n";
  }
  text +=
      "\nFlags of Nsight Systems that are accepted but do nothing yet (docs/cli-profile.md):\n" +
      std::string(kHelpColumn, ' ') + Wrap(silent) + "\n";
  return text;
}

std::string FlagsMarkdown() {
  std::string text =
      "# Flags of profile, launch and start\n\n"
      "Generated from `src/cli/flags/profile_flags.def` by `batchlight profile --help-markdown`; "
      "do not "
      "edit.\n\n"
      "`--flag=value` and `--flag value` are the same; a short flag takes its value as the next "
      "word. `true` may be left out. Everything from the first word that is no flag, or after "
      "`--`, is the program and its arguments. Lists are separated by commas. P, L, S: accepted by "
      "`profile`, `launch`, `start`.\n\n"
      "| flag | values (default) | by | what it does |\n|---|---|---|---|\n";
  for (const FlagSpec& spec : kFlags) {
    const std::string short_form =
        spec.short_name != 0 ? std::string(", `-") + spec.short_name + "`" : "";
    text += "| `--" + std::string(spec.name) + "`" + short_form + " | " + EscapeCell(Values(spec)) +
            " | " + std::string(spec.verbs) + " | " + std::string(StatusNote(spec.status)) +
            EscapeCell(spec.help) + " |\n";
  }
  return text;
}

}  // namespace batchlight::cli
