// What --help and `batchlight help` print, 80 columns wide.
#pragma once

#include <string>

#include "cli/reference/reference.h"

namespace batchlight::cli {

std::string HelpText(const CommandReference& command);

}  // namespace batchlight::cli
