// The manual pages: batchlight(1) and one for each command.
#pragma once

#include <string>
#include <vector>

#include "cli/reference/reference.h"

namespace batchlight::cli {

struct ManPage {
  std::string file;  // "batchlight-trace.1"
  std::string text;  // for man(7)
};

// `all` is the program; a command's own commands are sections of its page.
std::vector<ManPage> ManPages(const CommandReference& all, const std::string& version);

}  // namespace batchlight::cli
