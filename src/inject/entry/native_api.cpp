// The C table for torch_ops and the Python bridge: native_api.h.
#include "inject/native_api.h"

#include <cstddef>
#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/operator_levels.h"
#include "inject/entry/attach.h"
#include "inject/entry/export.h"
#include "inject/memory/allocator_events.h"
#include "inject/stacks/thread_stacks.h"

namespace batchlight::inject {
namespace {

// Asked before an operator's inputs are described, which is not done for nothing.
int ApiCollecting() {
  if (!Collecting()) return 0;
  const auto* stream = static_cast<const ThreadStream*>(t_thread.stream);
  return stream != nullptr && IsTooDeep(*stream) ? 0 : 1;
}

// Apart, so that the common path keeps its values in registers. `stack`: to be defined as well.
[[gnu::noinline]] format::StringRef InternName(ThreadStream* stream, const char* name,
                                               size_t record_bytes, uint32_t* stack) {
  const size_t bytes = std::strlen(name);
  const size_t room = record_bytes + StringBytes(bytes);
  if (!stream->More(room)) return 0;
  if (stack != nullptr) *stack = stacks::Define(*stream, room);
  return stream->Intern(name, bytes);
}

int ApiOpBegin(const char* name, int64_t sequence, uint32_t scope, uint32_t forward_thread,
               const void* shapes, size_t shapes_bytes) {
  if (!Collecting()) return 0;
  Guard guard;
  if (!guard) return 0;
  ThreadStream* stream = ThreadStream::Current(guard);
  size_t record_bytes = sizeof(format::OpBeginRecord);
  if (shapes_bytes != 0) record_bytes += StringBytes(shapes_bytes);
  if (stream == nullptr || IsTooDeep(*stream) || !stream->Ensure(record_bytes)) return 0;
  const bool with_stacks = stacks::IsOfCalls();
  const stacks::Place place =
      with_stacks ? stacks::OperatorBegins(guard, *stream) : stacks::Place();
  uint32_t stack = place.stack;
  format::StringRef name_id = stream->Recent(name);
  if (__builtin_expect(name_id == 0 || (place.is_known && stack == 0), 0)) {
    name_id = InternName(stream, name, record_bytes, place.is_known ? &stack : nullptr);
    if (name_id == 0 && *name != 0) return 0;
  }
  const format::StringRef shapes_id =
      shapes_bytes != 0 ? stream->Intern(static_cast<const char*>(shapes), shapes_bytes) : 0;
  const format::OpBeginRecord record{.name = name_id,
                                     .scope = scope,
                                     .sequence = sequence,
                                     .forward_thread = forward_thread,
                                     .shapes = shapes_id,
                                     .stack = stack};
  if (with_stacks) stacks::OperatorRecorded();
  if ((forward_thread | shapes_id | stack) == 0) {
    stream->WriteFirst<offsetof(format::OpBeginRecord, forward_thread)>(record);
  } else {
    stream->Write(record);
  }
  stream->OperatorBegan();
  return 1;
}

void ApiOpEnd() {
  stacks::OperatorEnds();
  Guard guard;
  if (!guard) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr) return;
  stream->OperatorEnded();
  if (stream->Ensure(sizeof(format::OpEndRecord))) stream->Write(format::OpEndRecord{});
}

void ApiReason(const char* feature, const char* text) {
  Guard guard;
  if (guard) Reason(guard, feature, text);
}

constexpr batchlight_native_api_t kTable = {
    BATCHLIGHT_NATIVE_API_VERSION,
    sizeof(batchlight_native_api_t),
    ApiCollecting,
    ApiOpBegin,
    ApiOpEnd,
    ApiReason,
    WatchCollecting,
    memory::GpuBlockAllocated,
    memory::GpuBlockFreed,
};

}  // namespace
}  // namespace batchlight::inject

BATCHLIGHT_EXPORT const batchlight_native_api_t* batchlight_native_api(void) {
  return batchlight::inject::Attach() ? &batchlight::inject::kTable : nullptr;
}
