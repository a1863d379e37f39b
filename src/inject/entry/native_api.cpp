// The C table for torch_ops and the Python bridge: native_api.h.
#include "inject/native_api.h"

#include "inject/buffer/facts.h"
#include "inject/buffer/thread_stream.h"
#include "inject/entry/attach.h"

namespace batchlight::inject {
namespace {

int ApiCollecting() { return Collecting() ? 1 : 0; }

int ApiOpBegin(const char* name, size_t name_bytes, int64_t sequence, uint32_t scope,
               uint32_t forward_thread, const void* shapes, size_t shapes_bytes) {
  if (!Collecting()) return 0;
  Guard guard;
  if (!guard) return 0;
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr || !stream->Ensure(sizeof(format::OpBeginRecord) + StringBytes(name_bytes) +
                                           StringBytes(shapes_bytes))) {
    return 0;
  }
  const format::StringRef name_id = stream->Intern(name, name_bytes);
  const format::StringRef shapes_id =
      stream->Intern(static_cast<const char*>(shapes), shapes_bytes);
  stream->Write(format::OpBeginRecord{.name = name_id,
                                      .scope = scope,
                                      .sequence = sequence,
                                      .forward_thread = forward_thread,
                                      .shapes = shapes_id});
  return 1;
}

void ApiOpEnd() {
  Guard guard;
  if (!guard) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream != nullptr && stream->Ensure(sizeof(format::OpEndRecord))) {
    stream->Write(format::OpEndRecord{});
  }
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
};

}  // namespace
}  // namespace batchlight::inject

extern "C" __attribute__((visibility("default"))) const batchlight_native_api_t*
batchlight_native_api(void) {
  return batchlight::inject::Attach() ? &batchlight::inject::kTable : nullptr;
}
