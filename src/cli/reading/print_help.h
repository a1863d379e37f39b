// --help of a command that reads its words itself.
#pragma once

#include "base/status.h"
#include "cli/flags/command.h"

namespace batchlight::cli {

// Errors: kOutput.
Status PrintHelp(const Command& command);

}  // namespace batchlight::cli
