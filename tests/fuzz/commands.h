// What the commands do with a store, without the program around it.
#pragma once

#include <cstdint>

#include "store/store.h"

namespace batchlight::fuzz {

// summary, analyze, tree, diff, dlprof, ranks, every table and every report of `stats`; and, picked
// by `choice`, one of the exports or the report folder, which take longer. Tables, reports, formats
// and exports are those that the product lists.
void RunCommands(const Store& store, uint32_t choice);

// Every call that the page of `view` makes.
void RunView(Store store);

}  // namespace batchlight::fuzz
