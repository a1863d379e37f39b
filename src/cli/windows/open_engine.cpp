// Slurm's commands and Dask's client are started on Linux only.
#include "cli/engines/engine.h"

namespace batchlight::cli {

Result<std::unique_ptr<Engine>> OpenEngine(const std::string& text) {
  if (text == "local") return LocalEngine(LocalThreads::kAll);
  return UsageError("--engine " + text + ": only local is there on Windows; Linux has the others");
}

}  // namespace batchlight::cli
