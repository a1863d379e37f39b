// The flag table as docs/cli-profile.md.
#include "cli/flags/flags.h"

namespace batchlight::cli {
namespace {

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

std::string FlagsMarkdown() {
  std::string text =
      "# Flags of profile, launch, start and kernels\n\n"
      "Generated from `src/cli/flags/profile_flags.def` by `batchlight profile --help-markdown`; "
      "do not "
      "edit.\n\n"
      "`--flag=value` and `--flag value` are the same; a short flag takes its value as the next "
      "word. `true` may be left out. Everything from the first word that is no flag, or after "
      "`--`, is the program and its arguments. Lists are separated by commas. P, L, S, K: accepted "
      "by `profile`, `launch`, `start`, `kernels`.\n\n"
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
