#include "inject/memory/allocator_events.h"

#include "inject/buffer/thread_stream.h"
#include "inject/stacks/thread_stacks.h"

namespace batchlight::inject::memory {
namespace {

constexpr uint32_t kFirstGpuSource = 2;  // MemoryAllocated::source of GPU 0

// 0: no Python code asked, or the operator around tells where.
uint32_t StackOfCaller(const Guard& guard, ThreadStream& stream, size_t room) {
  if (!stacks::IsOfCalls()) return 0;
  const stacks::Place place = stacks::CallBegins(guard, stream);
  if (!place.is_known || place.stack != 0) return place.stack;
  return stacks::Define(stream, room);
}

}  // namespace

void GpuBlockAllocated(uint32_t device, uint64_t address, uint64_t bytes) {
  if (!Collecting()) return;
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  constexpr size_t kBytes = sizeof(format::MemoryAllocatedRecord);
  if (stream == nullptr || !stream->Ensure(kBytes)) return;
  const uint32_t stack = StackOfCaller(guard, *stream, kBytes);
  if (!stream->More(kBytes)) return;
  stream->Write(format::MemoryAllocatedRecord{
      .address = address, .bytes = bytes, .stack = stack, .source = kFirstGpuSource + device});
}

void GpuBlockFreed(uint64_t address) {
  if (!Collecting()) return;
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || !stream->Ensure(sizeof(format::MemoryFreedRecord))) return;
  stream->Write(format::MemoryFreedRecord{.address = address});
}

}  // namespace batchlight::inject::memory
