// Names in stacks as text.
#pragma once

#include <string>
#include <string_view>

#include "store/store.h"

namespace batchlight {

// "train.py 4711 thread 4712 (pt_autograd_0)"
std::string ThreadLabel(const Store& store, size_t thread);
std::string ThreadLabel(const Store& store, ThreadId thread);  // None: "unknown thread"
// A frame of a folded stack: no separators, no control characters.
std::string FoldedFrame(std::string_view name);

}  // namespace batchlight
