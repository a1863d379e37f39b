// Our functions for a copy of the NVTX headers: the program has one, and each of its libraries may
// have its own.
#pragma once

#include "inject/nvtx/nvtx_abi.h"

namespace batchlight::inject::nvtx {

// False: we do not listen, and the header makes all its functions no-ops.
bool InstallHandlers(GetExportTable* get_export_table);
bool InstallExtensionHandlers(const ExtensionModule& module);

}  // namespace batchlight::inject::nvtx
