// Joins fragments into one store.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "ingest/decode/fragment.h"
#include "store/store.h"

namespace batchlight {

// How the ids of one fragment translate to the store's.
struct FragmentMap {
  std::vector<StringId> strings;
  std::vector<NvtxDomainId> domains;
  // Rows of each table before this fragment's, by the table's address within Store.
#define TABLE_BEGIN(Name, member, doc) uint32_t member = 0;
#define COLUMN(type, name, doc)
#define TABLE_END(Name)
#include "store/schema.def"
#undef TABLE_BEGIN
#undef COLUMN
#undef TABLE_END

  StringId String(StringId id) const { return id.IsNone() ? id : strings[id.row()]; }
};

// Moves the rows of `fragments` behind those of `store` (which has its processes and threads, and
// nothing else) and ties the loose ends within and between them. The fragments keep their facts
// and lose their rows. Errors (kInput): more rows than ids can name.
Result<std::vector<FragmentMap>> JoinFragments(std::vector<Fragment>& fragments, Store& store);

}  // namespace batchlight
