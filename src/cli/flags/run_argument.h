// RUN: what every command that reads a run calls its input, given as a word or by name (--run).
#pragma once

#include <string>
#include <vector>

#include "cli/flags/command.h"

namespace batchlight::cli {

inline constexpr char kRunHelp[] =
    "Recording, nsys export (.sqlite, or .nsys-rep with one beside it) or Kineto .json[.gz]";

// A command that reads one run, and needs it.
void AddRun(const Command& command, std::string* run);
// The same for commands of nsys, some of whose flags take a word that may turn out to be the run.
FlagHandle AddRuns(const Command& command, std::vector<std::string>* runs);

// Error (kUsage) unless there is exactly one. `hint`: what to say if a format was taken for a run.
Status CheckOneRun(const std::string& verb, const std::vector<std::string>& runs,
                   const std::string& hint);

}  // namespace batchlight::cli
