// What profile and launch share.
#pragma once

#include "cli/flags/command.h"
#include "cli/flags/profile_options.h"

namespace batchlight::cli {

// One line on stderr, marked as ours.
void Say(const std::string& line);

// Runs the session and reports on what it recorded. The outcome's exit code is the program's.
void RunSession(const ProfileOptions& options, Outcome& outcome);

}  // namespace batchlight::cli
