// What the commands do with a store, without the program around it.
#pragma once

#include <cstdint>

#include "store/store.h"

namespace batchlight::fuzz {

// summary, analyze, tree, every table and every report of `stats`; and, picked by `choice`, one of
// the exports or the report folder, which take longer.
void RunCommands(const Store& store, uint32_t choice);

}  // namespace batchlight::fuzz
