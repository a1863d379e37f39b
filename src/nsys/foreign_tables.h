// Tables of nsys that batchlight neither reads nor writes, because it does not record such things
// or keeps them elsewhere.
#pragma once

#include <array>
#include <string_view>

namespace batchlight::nsys {

struct ForeignTable {
  std::string_view name;
  std::string_view what;  // what is missing without it; empty: nothing that users look for
};

inline constexpr auto kForeignTables = std::to_array<ForeignTable>({
    {"GENERIC_EVENTS", "generic events"},
    {"CUPTI_ACTIVITY_KIND_JIT", "CUDA just-in-time compilations"},
    {"GPU_CONTEXT_SWITCH_EVENTS", "GPU context switches"},
    {"GENERIC_EVENT_TYPES", ""},
    {"GENERIC_EVENT_SOURCES", ""},
    {"GENERIC_EVENT_DATA", ""},
    {"CUDNN_API", ""},
    {"CUBLAS_API", ""},
});

}  // namespace batchlight::nsys
