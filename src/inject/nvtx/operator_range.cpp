#include "inject/nvtx/operator_range.h"

#include <cstring>

#include "inject/buffer/thread_stream.h"
#include "inject/collect/operator_levels.h"

namespace batchlight::inject::nvtx {
namespace {

constexpr char kSequence[] = ", seq = ", kOperatorId[] = ", op_id = ";
constexpr uint32_t kFunction = 0, kBackward = 1, kUser = 7;  // at::RecordScope

bool Has(const char* text, size_t bytes, const char* part) {
  const char* const at = std::strstr(text, part);
  return at != nullptr && at < text + bytes;
}

}  // namespace

bool g_operator_ranges = false;

OperatorText ReadOperatorText(const char* text) {
  OperatorText found;
  const char* const sequence = std::strstr(text, kSequence);
  const char* const end = sequence != nullptr ? sequence : std::strstr(text, kOperatorId);
  if (end == nullptr || static_cast<size_t>(end - text) > format::kMaxStringBytes) return found;
  found.name_bytes = static_cast<size_t>(end - text);
  if (sequence != nullptr) {
    const char* digit = sequence + sizeof kSequence - 1;
    int64_t number = 0;
    for (; *digit >= '0' && *digit <= '9' && number < (int64_t{1} << 56); ++digit) {
      number = number * 10 + (*digit - '0');
    }
    found.sequence = number;
  }
  if (Has(text, found.name_bytes, "Backward") || Has(text, found.name_bytes, "autograd::")) {
    found.scope = kBackward;
  } else if (!Has(text, found.name_bytes, "::")) {
    found.scope = kUser;
  }
  return found;
}

bool RecordOperatorBegin(const char* text, const OperatorText& operator_text) {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || IsTooDeep(*stream) ||
      !stream->Ensure(sizeof(format::OpBeginRecord) + StringBytes(operator_text.name_bytes))) {
    return false;
  }
  const format::StringRef name = stream->InternHashed(text, operator_text.name_bytes,
                                                      HashBytes(text, operator_text.name_bytes));
  stream->WriteShort(format::OpBeginRecord{
      .name = name, .scope = operator_text.scope, .sequence = operator_text.sequence});
  stream->OperatorBegan();
  return true;
}

void RecordOperatorEnd() {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr) return;
  stream->OperatorEnded();
  if (stream->Ensure(sizeof(format::OpEndRecord))) stream->Write(format::OpEndRecord{});
}

}  // namespace batchlight::inject::nvtx
