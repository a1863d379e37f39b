// Row numbers as types: an ApiCallId is not a ThreadId. Ids are dense, from 0; kNone means "no
// row".
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace batchlight {

template <typename Tag>
struct Id {
  uint32_t value = UINT32_MAX;

  static constexpr Id None() { return Id{}; }
  static constexpr Id At(size_t row) { return Id{static_cast<uint32_t>(row)}; }
  constexpr bool IsNone() const { return value == UINT32_MAX; }
  constexpr size_t row() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace batchlight

template <typename Tag>
struct std::hash<batchlight::Id<Tag>> {
  size_t operator()(batchlight::Id<Tag> id) const noexcept {
    return id.value * 0x9e3779b97f4a7c15u;
  }
};
