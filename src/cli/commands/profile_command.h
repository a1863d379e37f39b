// What profile, launch and kernels share.
#pragma once

#include "cli/commands/after_recording.h"
#include "cli/flags/command.h"
#include "cli/flags/profile_options.h"

namespace batchlight::cli {

// One line on stderr, marked as ours.
void Say(const std::string& line);

// Of the ranks of a job that are recorded each by a tool of its own: who shows.
enum class Shows { kLowestRank, kEachRank };

// Runs the session and shows what it recorded. The outcome's exit code is the program's.
void RunSession(const ProfileOptions& options, const ShowRecording& show, capture::Inherits keeps,
                Outcome& outcome, Shows who = Shows::kLowestRank);

}  // namespace batchlight::cli
