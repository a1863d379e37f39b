#include "inject/python/made_code.h"

#include <atomic>
#include <cstdint>

namespace batchlight::inject {
namespace {

// Open addressing, never more than half full.
constexpr size_t kSlots = 2 * kMostMadeCode;
std::atomic<const void*> g_held[kSlots];
std::atomic<size_t> g_count{0};
std::atomic<bool> g_is_full{false};

size_t SlotOf(const void* code) {
  return (reinterpret_cast<uintptr_t>(code) * 0x9e3779b97f4a7c15u >> 32) & (kSlots - 1);
}

}  // namespace

bool IsMadeCode(std::string_view file) {
  constexpr std::string_view kFrozen = "<frozen ";
  return !file.empty() && file.front() == '<' && file.substr(0, kFrozen.size()) != kFrozen;
}

Made HoldMadeCode(const void* code) {
  bool counted = false;
  for (size_t at = SlotOf(code);; at = (at + 1) & (kSlots - 1)) {
    const void* known = g_held[at].load(std::memory_order_acquire);
    if (known == nullptr && !counted) {
      if (g_count.load(std::memory_order_relaxed) >= kMostMadeCode ||
          g_count.fetch_add(1, std::memory_order_relaxed) >= kMostMadeCode) {
        return g_is_full.exchange(true, std::memory_order_relaxed) ? Made::kFull : Made::kNowFull;
      }
      counted = true;
    }
    if (known == nullptr && g_held[at].compare_exchange_strong(known, code)) return Made::kHeld;
    if (known == code) return Made::kHeld;
  }
}

}  // namespace batchlight::inject
