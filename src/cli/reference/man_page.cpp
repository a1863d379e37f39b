#include "cli/reference/man_page.h"

#include <algorithm>
#include <cctype>

#include "base/split.h"

namespace batchlight::cli {
namespace {

constexpr char kExitStatus[] =
    ".SH EXIT STATUS\n"
    "0: fine. 1: a limit that was asked for is passed. 2: wrong usage. 3: the input cannot be "
    "read. "
    "4: the output cannot be written.\n"
    ".B batchlight profile\n"
    "exits with the code of its program.\n";

// Text as roff shows it: no macro at the begin of a line, hyphens and quotes as they are typed.
std::string Escaped(std::string_view text) {
  std::string escaped;
  bool line_begins = true;
  for (const char c : text) {
    if (line_begins && (c == '.' || c == '\'')) escaped += "\\&";
    line_begins = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (c == '\'') {
      escaped += "\\(aq";
    } else if (c == '`') {
      escaped += "\\(ga";
    } else if (c == '^') {
      escaped += "\\(ha";
    } else if (c == '~') {
      escaped += "\\(ti";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Line breaks of the text begin a line.
std::string Lines(std::string_view text) {
  std::string lines;
  for (const std::string_view line : SplitAt(text, '\n')) {
    if (line.empty()) {
      lines += ".PP\n";
      continue;
    }
    if (!lines.empty() && !lines.ends_with(".PP\n")) lines += ".br\n";
    lines += Escaped(line) + "\n";
  }
  return lines;
}

std::string Item(const std::string& name, const std::string& help) {
  return ".TP\n\\fB" + Escaped(name) + "\\fR\n" + Lines(help);
}

std::string Flags(const CommandReference& command, const char* macro) {
  std::string text;
  for (const std::string& group : command.Groups()) {
    text += std::string(macro) + " " + Escaped(group) + "\n";
    for (const FlagReference& flag : command.flags) {
      if (flag.group != group || flag.without_effect) continue;
      const std::string note = ValueNote(flag);
      const std::string stop = note.empty() || flag.help.ends_with('.') ? "" : ".";
      text += Item(Spelling(flag), flag.help + stop + (note.empty() ? "" : "\n" + note));
    }
  }
  std::string silent;
  for (const FlagReference& flag : command.flags) {
    if (flag.without_effect) silent += (silent.empty() ? "" : ", ") + flag.name();
  }
  if (!silent.empty()) {
    text += std::string(macro) + " Accepted, without effect\n" + Escaped(silent) + "\n";
  }
  return text;
}

std::string ExampleItems(const CommandReference& command) {
  std::string text;
  for (const ExampleReference& example : command.examples) text += Item(example.line, example.what);
  return text;
}

std::string PageName(const CommandReference& command) {
  std::string name = command.name;
  std::replace(name.begin(), name.end(), ' ', '-');
  return name;
}

std::string Page(const CommandReference& command, const CommandReference& all,
                 const std::string& version) {
  std::string title = PageName(command);
  std::transform(title.begin(), title.end(), title.begin(),
                 [](char c) { return static_cast<char>(std::toupper(c)); });
  // No date: the same sources give the same page.
  std::string text = ".TH " + Escaped(title) + " 1 \"\" \"batchlight " + version +
                     "\" \"batchlight\"\n.SH NAME\n" + Escaped(PageName(command)) + " \\- " +
                     Escaped(command.sentence) + "\n.SH SYNOPSIS\n" + Escaped(UsageLine(command)) +
                     "\n";
  text += ".SH DESCRIPTION\n" +
          Lines(command.details.empty() ? command.sentence + "." : command.details);
  for (const WordReference& word : command.words) text += Item(word.name, word.help);
  std::string group;
  const bool is_program = &command == &all;
  if (is_program) text += ".SH COMMANDS\n";
  for (const CommandReference& below : command.commands) {
    if (is_program) {
      if (below.group != group) text += ".SS " + Escaped(below.group) + "\n";
      text += Item(PageName(below) + "(1)", below.sentence);
      group = below.group;
      continue;
    }
    text += ".SH " + Escaped(UsageLine(below)) + "\n" + Escaped(below.sentence) + ".\n";
    for (const WordReference& word : below.words) text += Item(word.name, word.help);
    text += Flags(below, ".SS") + ExampleItems(below);
  }
  if (!command.flags.empty()) text += ".SH OPTIONS\n" + Flags(command, ".SS");
  if (!command.examples.empty()) text += ".SH EXAMPLES\n" + ExampleItems(command);
  text += kExitStatus;
  text += ".SH SEE ALSO\n";
  if (!is_program) return text + "\\fBbatchlight\\fR(1)\n";
  for (const CommandReference& below : command.commands) {
    text += "\\fB" + Escaped(PageName(below)) + "\\fR(1)" +
            (&below == &command.commands.back() ? "\n" : ",\n");
  }
  return text;
}

}  // namespace

std::vector<ManPage> ManPages(const CommandReference& all, const std::string& version) {
  std::vector<ManPage> pages = {{PageName(all) + ".1", Page(all, all, version)}};
  for (const CommandReference& command : all.commands) {
    pages.push_back({PageName(command) + ".1", Page(command, all, version)});
  }
  return pages;
}

}  // namespace batchlight::cli
