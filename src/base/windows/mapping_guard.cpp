#include "base/mapping_guard.h"

namespace batchlight {

// Windows lets nobody cut a file that is mapped.
void GuardMappings() {}

uint64_t PagesCutAway() { return 0; }

}  // namespace batchlight
