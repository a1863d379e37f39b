#include "inject/memory/memory_recorder.h"

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/rt/control.h"
#include "inject/rt/option_number.h"
#include "inject/stacks/thread_stacks.h"

namespace batchlight::inject::memory {
namespace {

// Of a thread that has ended: what its libraries still do is not recorded.
constinit __thread bool t_gone = false;
constinit std::atomic<const MemoryShims*> g_shims{nullptr};

// 0: there is no Python code. Room for `bytes` is left in the open chunk, unless it is 0.
uint32_t StackOfCaller(const Guard& guard, ThreadStream& stream, size_t bytes) {
  if (!stacks::IsOn()) return 0;
  const stacks::Place place = stacks::AllocationBegins(guard, stream);
  if (!place.is_known || place.stack != 0) return place.stack;
  return stacks::Define(stream, bytes);
}

bool Allocated(const void* block, size_t bytes, Source source) {
  if (t_gone) return false;
  Guard guard;
  if (!guard || !Collecting()) return false;
  constexpr size_t kBytes = sizeof(format::MemoryAllocatedRecord);
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr || !stream->Ensure(kBytes)) return false;
  const uint32_t stack = StackOfCaller(guard, *stream, kBytes);
  if (!stream->More(kBytes)) return false;
  stream->WriteShort(format::MemoryAllocatedRecord{.address = reinterpret_cast<uintptr_t>(block),
                                                   .bytes = bytes,
                                                   .stack = stack,
                                                   .source = static_cast<uint32_t>(source)});
  return true;
}

void Freed(const void* block) {
  if (t_gone) return;
  Guard guard;
  if (!guard || !Collecting()) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr || !stream->Ensure(sizeof(format::MemoryFreedRecord))) return;
  stream->Write(format::MemoryFreedRecord{.address = reinterpret_cast<uintptr_t>(block)});
}

void Ready(const MemoryShims* shims) { g_shims.store(shims, std::memory_order_release); }

void Lost() { AddCounter(format::Counter::kMemoryBlocksUnrecorded); }

void SayWhy(const char* text) {
  Guard guard;
  if (guard) Reason(guard, "python-memory", text);
}

MemoryApi g_api = {nullptr, 0, Ready, Allocated, Freed, Lost, SayWhy};

}  // namespace

void PrepareMemory() {
  if (!Traces(format::kTraceMemory)) return;
  g_api.interval_bytes = OptionNumber(Control()->extra, "memory.interval=");
  g_api.state = g_state.load(std::memory_order_relaxed);
}

const MemoryApi* Api() { return g_api.state != nullptr ? &g_api : nullptr; }

const MemoryShims* Shims() { return g_shims.load(std::memory_order_acquire); }

bool CountBytes() { return Shims() != nullptr && Shims()->count_bytes(); }

ThreadBytes BytesOfThread() { return Shims()->thread_bytes(); }

void ReleaseMemory() {
  if (Api() != nullptr) t_gone = true;
}

}  // namespace batchlight::inject::memory
