// `batchlight export` as a function, for `profile --export`.
#pragma once

#include <string>

#include "base/folder.h"
#include "base/status.h"
#include "store/store.h"

namespace batchlight::cli {

// Exports to the default place beside `input`: r.batchlight as sqlite becomes r.sqlite. Returns the
// path. `into` is the folder that holds the input, whatever its name leads to by now. Errors:
// kUsage for an unknown type, kOutput.
Result<std::string> ExportBeside(const Store& store, const std::string& input,
                                 const std::string& type, bool force_overwrite, const Folder& into);

}  // namespace batchlight::cli
