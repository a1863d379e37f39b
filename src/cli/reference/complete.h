// What may come next on a command line, for the shells (src/cli/completion).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/reference/reference.h"

namespace batchlight::cli {

struct Candidate {
  std::string word;
  std::string what;  // "" where the word says it
};

// What the shell adds by itself.
enum class ShellWords { kNone, kRuns, kFiles, kFolders, kProgram };

struct Completion {
  std::vector<Candidate> candidates;  // whole words: "--export=sqlite,chrome"
  ShellWords shell = ShellWords::kNone;
  // Where in the last word the name of a file begins: 9 of "--output=".
  size_t value_begin = 0;
  // kProgram: which of the words is the program.
  size_t program = 0;
};

// The words of a list that changes: tables, export types, sessions. "TABLE" and so on.
using KnownValues = std::function<std::vector<Candidate>(std::string_view value_name)>;

// `words` are those after the program's name; the last one, perhaps empty, is the one to complete.
Completion Complete(const CommandReference& all, const std::vector<std::string>& words,
                    const KnownValues& known);

// For the shells: ":runs 0", ":program 3" and so on in the first line, ":" for nothing, then a line
// for each candidate, its description behind a tab.
std::string CompletionText(const Completion& completion);

}  // namespace batchlight::cli
