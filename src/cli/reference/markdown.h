// docs/cli.md.
#pragma once

#include <string>

#include "cli/reference/reference.h"

namespace batchlight::cli {

std::string ReferenceMarkdown(const CommandReference& all);

}  // namespace batchlight::cli
