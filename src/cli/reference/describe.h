// Reads the description of the command line off the parser.
#pragma once

#include "cli/flags/command.h"
#include "cli/reference/reference.h"

namespace batchlight::cli {

// `command` with all below it. Commands and flags of the group "" are hidden: they are for scripts
// of ours.
CommandReference Describe(const Command& command);

}  // namespace batchlight::cli
