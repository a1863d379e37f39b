#include "inject/counting/loop_context.h"

#include "inject/buffer/facts.h"
#include "inject/rt/text.h"

namespace batchlight::inject::cupti {
namespace {

std::atomic<uint64_t> g_nodes_made{0};  // of graphs

}  // namespace

bool LoopContext::IsCapturing() {
  const uint64_t made = g_nodes_made.load(std::memory_order_relaxed);
  const bool capturing = made != nodes_seen_;
  nodes_seen_ = made;
  return capturing;
}

bool LoopContext::HasContext(const Library& library) {
  static auto* const current = reinterpret_cast<int (*)(void**)>(DriverSymbol("cuCtxGetCurrent"));
  void* context = nullptr;
  if (current == nullptr || current(&context) != 0 || context == nullptr) return false;
  if (context_ == nullptr) {
    context_ = context;
    if (library.cuptiGetDeviceId != nullptr) library.cuptiGetDeviceId(context, &device_);
  }
  return context == context_;
}

uint32_t LoopContext::ContextId(const Library& library) const {
  uint32_t id = 0;
  if (library.cuptiGetContextId != nullptr) library.cuptiGetContextId(context_, &id);
  return id;
}

void NoteGraphNode() { g_nodes_made.fetch_add(1, std::memory_order_relaxed); }

void SayCounters(const char* what, const char* why, uint64_t number) {
  char text[512];
  Text words(text, sizeof text);
  words.Add(what).Add(why);
  if (number != 0) words.Add(" ").Add(number);
  Guard guard;
  if (guard) Reason(guard, "counters", text);
}

}  // namespace batchlight::inject::cupti
