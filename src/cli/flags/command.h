// The subcommands of the program. Each lives in <verb>_command.cpp, declares its flags on a CLI11
// subcommand and sets the callback that runs it; main.cpp lists them all.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "base/status.h"

namespace batchlight::cli {

// What the chosen subcommand reports back to main(). `exit_code` is used when status is fine:
// `profile` passes the program's own exit code on.
struct Outcome {
  Status status;
  int exit_code = 0;
  // For a subcommand in prefix mode (App::prefix_command): all words after its name, untouched.
  std::vector<std::string> words;
};

// Adds the subcommand to `app`. `outcome` outlives the parse.
using RegisterFunction = void (*)(CLI::App& app, Outcome& outcome);

}  // namespace batchlight::cli
