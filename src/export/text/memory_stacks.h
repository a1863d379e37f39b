// Who has memory, as stacks: each with its bytes.
#pragma once

#include "export/text/named_stacks.h"

namespace batchlight {

// Of RAM (store.memory_blocks). `at_peak`: what was held when the process held most; else all that
// was allocated.
NamedStacks MemoryStacks(const Store& store, bool at_peak);
// Of GPUs, by PyTorch's caching allocator. Innermost is the operator; what backward allocates
// stands on the stack of the forward.
NamedStacks GpuMemoryStacks(const Store& store, bool at_peak);

}  // namespace batchlight
