// The record structs and tables, expanded from records.def, phases.def and counters.def.
#pragma once

#include <cstddef>
#include <cstdint>

#include "format/layout.h"

namespace batchlight::format {

using u8 = uint8_t;
using u16 = uint16_t;
using u32 = uint32_t;
using u64 = uint64_t;
using i32 = int32_t;
using i64 = int64_t;
using f64 = double;
using StringRef = uint32_t;  // id of a String record of the same chunk; 0 = none

// kString, kRangePush, ...
enum class RecordKind : uint8_t {
  kNone = 0,
#define RECORD_BEGIN(Name, number, since, doc) k##Name = number,
#define FIELD(type, name, doc)
#define RECORD_END(Name)
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END
};

// One struct a record. `head` is written last; see layout.h.
#define RECORD_BEGIN(Name, number, since, doc)               \
  struct Name##Record {                                      \
    static constexpr RecordKind kKind = RecordKind::k##Name; \
    uint64_t head;
#define FIELD(type, name, doc) type name;
// It takes the end of the struct for a statement.
// clang-format off
#define RECORD_END(Name) \
  };                     \
  static_assert(sizeof(Name##Record) % 8 == 0 && alignof(Name##Record) == 8);
// clang-format on
#include "format/records.def"
#undef RECORD_BEGIN
#undef FIELD
#undef RECORD_END

enum class Phase : uint8_t {
  kNone = 0,
#define PHASE(Name, number, label) k##Name = number,
#include "format/phases.def"
#undef PHASE
};

enum class Counter : uint32_t {
  kNone = 0,
#define COUNTER(Name, number, severity, what, advice) k##Name = number,
#include "format/counters.def"
#undef COUNTER
  kEnd
};
inline constexpr size_t kCounterSlots = 64;
static_assert(static_cast<size_t>(Counter::kEnd) <= kCounterSlots);

}  // namespace batchlight::format
