// Apart from the rest of the tables, as the library inside the program does without.
#include "native/unwind_tables.h"

namespace batchlight::native {

std::optional<UnwindTables::Extent> UnwindTables::ExtentAt(uint64_t address) const {
  const size_t count = CountUntil(address);
  if (count == 0 || !RowAt(address)) return std::nullopt;
  const uint64_t end = count < count_ ? EntryAt(count).begin : address + 1;
  return Extent{EntryAt(count - 1).begin, end};
}

}  // namespace batchlight::native
