// What is wrong with a command line that CLI11 refused, with the nearest flag.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace batchlight::cli {

// Prints help and versions to stdout, errors to stderr. Returns the exit code.
int ReportParseError(const CLI::App& app, const CLI::ParseError& error);

// A check of options that count.
CLI::Validator NotNegative();

// "--format" and so on, of one command.
std::vector<std::string> FlagsOf(const CLI::App& command);

}  // namespace batchlight::cli
