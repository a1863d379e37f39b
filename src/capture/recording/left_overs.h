// What runs whose tool was killed left in a folder of outputs.
#pragma once

#include <string>
#include <vector>

#include "base/folder.h"
#include "base/status.h"

namespace batchlight::capture {

// Live folders that nobody writes into any more, by name: of this user, and those of others that
// root's tool recorded into.
std::vector<std::string> LeftLiveFolders(const Folder& folder);

struct CleanOptions {
  bool only_say = false;     // --dry-run
  bool drop_events = false;  // --drop: live folders go unsealed
};

// Removes unfinished files and folders, and makes recordings of left live folders. One line on each
// thing for the user. Errors (kOutput): what could not be done; the rest is done nevertheless.
Status Clean(const std::string& folder, const CleanOptions& options,
             std::vector<std::string>& lines);

}  // namespace batchlight::capture
