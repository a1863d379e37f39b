// An engine whose work is done on other machines.
#pragma once

#include <memory>

#include "cli/engines/engine.h"
#include "cli/engines/workers.h"

namespace batchlight::cli {

// How long views of a file system that differ may take to become one, seconds.
inline constexpr double kMostLagSeconds = 10;

std::unique_ptr<Engine> RemoteEngine(std::unique_ptr<Workers> workers,
                                     double most_lag_seconds = kMostLagSeconds);

}  // namespace batchlight::cli
