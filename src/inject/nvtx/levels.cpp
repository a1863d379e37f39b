#include "inject/nvtx/levels.h"

#include "format/layout.h"
#include "inject/buffer/chunk_file.h"
#include "inject/buffer/thread_stream.h"
#include "inject/nvtx/registry.h"
#include "inject/rt/sys.h"
#include "inject/rt/thread_exit.h"

namespace batchlight::inject::nvtx {
namespace {

struct DomainLevels {
  uint32_t domain;  // id, 0 = free
  uint32_t unused;
  Levels levels;
};
constexpr uint32_t kSlots = 128;
static_assert(sizeof(DomainLevels) * kSlots <= format::kPageBytes);

constinit __thread DomainLevels* t_levels = nullptr;  // a page, on first use

DomainLevels* MapLevels() {
  if (!ThreadStream::MayRecord() || !TakeBudget(format::kPageBytes)) return nullptr;
  auto* page = static_cast<DomainLevels*>(sys::MapMemory(format::kPageBytes));
  if (page == nullptr) {
    ReturnBudget(format::kPageBytes);
    return nullptr;
  }
  t_levels = page;
  CallAtThreadExit();
  return page;
}

}  // namespace

constinit __thread Levels t_default_levels = {};

Levels* LevelsOf(const Domain* domain) {
  if (domain->id == 0) return &t_default_levels;
  DomainLevels* page = t_levels != nullptr ? t_levels : MapLevels();
  if (page == nullptr) return nullptr;
  for (uint32_t i = 0; i < kSlots; ++i) {
    DomainLevels& slot = page[(domain->id + i) % kSlots];
    if (slot.domain == domain->id) return &slot.levels;
    if (slot.domain == 0) {
      slot.domain = domain->id;
      return &slot.levels;
    }
  }
  return nullptr;
}

void ReleaseLevels() {
  if (t_levels == nullptr) return;
  sys::Unmap(t_levels, format::kPageBytes);
  ReturnBudget(format::kPageBytes);
  t_levels = nullptr;
}

}  // namespace batchlight::inject::nvtx
