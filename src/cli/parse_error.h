// What is wrong with a command line that CLI11 refused, with the nearest flag.
#pragma once

#include <CLI/CLI.hpp>

namespace batchlight::cli {

// Prints help and versions to stdout, errors to stderr. Returns the exit code.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error);

}  // namespace batchlight::cli
