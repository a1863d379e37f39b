// Reports what is wrong with a command line that CLI11 rejected, with the nearest flag.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace batchlight::cli {

// Prints help and versions to stdout, errors to stderr. Returns the exit code.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error);

// The flags of one command: "--format" and so on.
std::vector<std::string> FlagsOf(const CLI::App& command);

}  // namespace batchlight::cli
