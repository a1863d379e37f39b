#include "inject/counting/counter_plan.h"

#include <cstring>
#include <new>

#include "inject/rt/option_number.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

constexpr char kPass[] = "counters.pass=", kReplay[] = "counters.replay=";

// The plan and the texts that it points into, in one mapping.
struct Storage {
  CounterPlan plan;
  const char* names[CounterPlan::kMostNames];
  size_t name_count = 0;
  char text[];
};

// "SET=METRIC,METRIC" at `line`, which it cuts into texts.
void AddPass(Storage& storage, char* line) {
  char* at = std::strchr(line, '=');
  CounterPlan& plan = storage.plan;
  if (at == nullptr || plan.count == CounterPlan::kMostPasses) return;
  *at++ = 0;
  CounterPass& pass = plan.passes[plan.count++];
  pass = {line, storage.names + storage.name_count, 0};
  while (storage.name_count < CounterPlan::kMostNames) {
    storage.names[storage.name_count++] = at;
    ++pass.count;
    at = std::strchr(at, ',');
    if (at == nullptr) return;
    *at++ = 0;
  }
}

}  // namespace

const CounterPlan* ReadCounterPlan(const char* extra) {
  const size_t bytes = std::strlen(extra) + 1;
  void* const memory = sys::MapMemory(sizeof(Storage) + bytes);
  if (memory == nullptr) return nullptr;
  Storage& storage = *new (memory) Storage;
  std::memcpy(storage.text, extra, bytes);
  CounterPlan& plan = storage.plan;
  plan.first_iteration = OptionNumber(extra, "counters.first=");
  plan.steps = OptionNumber(extra, "counters.steps=");
  plan.share_ppm = OptionNumber(extra, "counters.share=");
  plan.kernel_room = OptionNumber(extra, "counters.kernels=");
  plan.has_rank = HasOption(extra, "counters.rank=");
  plan.rank = OptionNumber(extra, "counters.rank=");
  if (plan.steps == 0) plan.steps = 1;
  for (char* line = storage.text; line != nullptr && *line != 0;) {
    char* const end = std::strchr(line, '\n');
    if (end != nullptr) *end = 0;
    constexpr size_t kBytes = sizeof kPass - 1;
    if (std::strncmp(line, kPass, kBytes) == 0) AddPass(storage, line + kBytes);
    constexpr size_t kReplayBytes = sizeof kReplay - 1;
    if (std::strncmp(line, kReplay, kReplayBytes) == 0) plan.replay = line + kReplayBytes;
    line = end != nullptr ? end + 1 : nullptr;
  }
  return plan.count != 0 ? &plan : nullptr;
}

}  // namespace batchlight::inject::cupti
