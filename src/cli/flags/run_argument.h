// RUN: what every command that reads a run calls its input, given as a word or by name (--run).
#pragma once

#include <string>
#include <vector>

#include "cli/flags/command.h"

namespace batchlight::cli {

inline constexpr char kRunHelp[] =
    "Recording, nsys export (.sqlite, or .nsys-rep with one beside it) or Kineto .json[.gz]";
// What a command that takes several adds to it.
inline constexpr char kRunsHelp[] = "; several, a folder or a pattern: ranks of one job";

// The words of a command that reads a run.
FlagHandle AddRuns(const Command& command, std::vector<std::string>* runs);

// Error (kUsage) if there is none, or a format was taken for one, of which `hint` says more.
Status CheckRuns(const std::string& verb, const std::vector<std::string>& runs,
                 const std::string& hint = "");

}  // namespace batchlight::cli
