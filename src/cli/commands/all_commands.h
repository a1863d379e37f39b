// Every subcommand of commands.def on one parser.
#pragma once

#include "cli/flags/command.h"

namespace batchlight::cli {

inline constexpr char kProgramSentence[] =
    "Profiler for deep-learning training: what a step is made of, why it is slow";

// `parser` and `outcome` outlive the parse.
void AddAllCommands(CLI::App* parser, Outcome& outcome);

}  // namespace batchlight::cli
