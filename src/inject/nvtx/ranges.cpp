#include "inject/nvtx/ranges.h"

#include <atomic>
#include <cstring>

#include "inject/collect/loop_follower.h"
#include "inject/collect/step_detail.h"
#include "inject/nvtx/capture_range.h"
#include "inject/nvtx/levels.h"
#include "inject/nvtx/library_calls.h"
#include "inject/nvtx/operator_range.h"
#include "inject/rt/control.h"

namespace batchlight::inject::nvtx {
namespace {

using format::Counter;

// Range ids are even while nothing is recorded, odd for a range that was: its end is then recorded
// too. 0 is never used.
constinit std::atomic<uint64_t> g_next_range{1};

uint32_t CaptureIndex() { return SessionState() >> 1; }

bool Wanted(const Domain* domain) { return Collecting() && Enabled(domain); }

bool IsLeftOut(const Domain* domain, const Name& message) {
  return domain != nullptr && __builtin_expect(domain->skips_helpers, 0) &&
         IsHelperCall(message.text, message.bytes, message.hash);
}

bool RecordPush(const Event& event) {
  Guard guard;
  if (!guard) return false;
  const bool plain = event.domain == nullptr && event.category == 0 && event.payload_type == 0 &&
                     (event.flags & ~kFlagRegistered) == 0;
  if (!plain) return WriteEvent<format::RangePushExRecord>(guard, event, [](auto&) {});
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr ||
      !stream->Ensure(sizeof(format::RangePushRecord) + StringBytes(event.message.bytes))) {
    return false;
  }
  const format::StringRef message = InternName(*stream, event.message);
  stream->Write(format::RangePushRecord{.message = message, .flags = event.flags});
  return true;
}

bool RecordPushText(const char* text) {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream == nullptr || !stream->Ensure(sizeof(format::RangePushRecord))) return false;
  format::StringRef message = stream->Recent(text);
  if (__builtin_expect(message == 0, 0)) {
    const size_t bytes = std::strlen(text);
    if (!stream->More(sizeof(format::RangePushRecord) + StringBytes(bytes))) return false;
    message = stream->Intern(text, bytes);
  }
  stream->Write(format::RangePushRecord{.message = message});
  return true;
}

void RecordPopDefault() {
  Guard guard;
  ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
  if (stream != nullptr && stream->Ensure(sizeof(format::RangePopRecord))) {
    stream->Write(format::RangePopRecord{});
  }
}

// PopPayload and blobs come before the record that ends the range, at the same time.
void WriteEndBlobs(ThreadStream& stream, const Domain* domain, const PayloadData* blobs,
                   size_t count) {
  if (count == 0) return;
  stream.Write(format::PopPayloadRecord{
      .domain = domain != nullptr ? InternName(stream, domain->name) : 0, .flags = kFlagBlobs});
  WriteBlobs(stream, domain, blobs, count);
}

size_t EndBytes(const Domain* domain, const PayloadData* blobs, size_t count) {
  size_t bytes = sizeof(format::RangePopDomainRecord);
  if (domain != nullptr) bytes += StringBytes(domain->name.bytes);
  if (count != 0) bytes += sizeof(format::PopPayloadRecord) + BlobsBytes(domain, blobs, count);
  return bytes;
}

void RecordPop(const Domain* domain, const PayloadData* blobs, size_t count) {
  Guard guard;
  if (!guard) return;
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr || !stream->Ensure(EndBytes(domain, blobs, count))) return;
  WriteEndBlobs(*stream, domain, blobs, count);
  if (domain == nullptr) {
    stream->Write(format::RangePopRecord{});
  } else {
    stream->Write(format::RangePopDomainRecord{.domain = InternName(*stream, domain->name)});
  }
}

int PopLevel(Levels& levels, const Domain* domain, const PayloadData* blobs, size_t count) {
  if (__builtin_expect(levels.empty(), 0)) {
    AddCounter(Counter::kPopsUnbalanced);
    return -1;
  }
  if (Collecting() && levels.recorded(CaptureIndex())) {
    levels.is_operator() ? RecordOperatorEnd() : RecordPop(domain, blobs, count);
  }
  const int depth = levels.Pop();
  if (__builtin_expect(g_capture_by_range, 0)) StopCaptureAtPop(domain, depth);
  if (__builtin_expect(FollowsRanges(), 0) && domain == nullptr) LoopRangeEnds(depth);
  return depth;
}

}  // namespace

int PushEvent(const Event& event) {
  Levels* levels = LevelsIn(event.domain);
  if (__builtin_expect(g_capture_by_range, 0)) {
    StartCaptureAt(event, levels != nullptr ? levels->depth() : 0, 0);
  }
  const bool recorded =
      Wanted(event.domain) && !IsLeftOut(event.domain, event.message) && RecordPush(event);
  return levels != nullptr ? levels->Push(recorded, CaptureIndex()) : kNoPushPopTracking;
}

// The two calls that programs make most, in one piece each: no Event, the state read once.
int PushText(const char* text) {
  const uint32_t state = SessionState();
  if (__builtin_expect(g_operator_ranges, 0) && text != nullptr) {
    const OperatorText operator_text = ReadOperatorText(text);
    if (operator_text.name_bytes != 0) {
      const bool recorded = (state & format::kStateCollecting) != 0 && !IsPlainStep() &&
                            RecordOperatorBegin(text, operator_text);
      return t_default_levels.Push(recorded, state >> 1, true);
    }
  }
  if (__builtin_expect(g_capture_by_range, 0)) return PushEvent(TextEvent(text));
  bool recorded = false;
  if ((state & format::kStateCollecting) != 0 && g_default_domain_enabled) {
    recorded = RecordPushText(text != nullptr ? text : "");
  }
  return t_default_levels.Push(recorded, state >> 1);
}

int PopDefault() {
  Levels& levels = t_default_levels;
  const uint32_t state = SessionState();
  if (__builtin_expect(levels.empty() || g_capture_by_range || FollowsRanges(), 0)) {
    return PopLevel(levels, nullptr, nullptr, 0);
  }
  if ((state & format::kStateCollecting) != 0 && levels.recorded(state >> 1)) {
    __builtin_expect(levels.is_operator(), 0) ? RecordOperatorEnd() : RecordPopDefault();
  }
  return levels.Pop();
}

int Pop(const Domain* domain, const PayloadData* blobs, size_t blob_count) {
  Levels* levels = LevelsIn(domain);
  if (levels != nullptr) return PopLevel(*levels, domain, blobs, blob_count);
  if (Wanted(domain)) RecordPop(domain, blobs, blob_count);
  return kNoPushPopTracking;
}

uint64_t StartRange(const Event& event) {
  uint64_t id = g_next_range.fetch_add(1, std::memory_order_relaxed) << 1 | 1;
  if (__builtin_expect(g_capture_by_range, 0)) StartCaptureAt(event, -1, id);
  if (Wanted(event.domain)) {
    Guard guard;
    if (guard && WriteEvent<format::RangeStartRecord>(
                     guard, event, [id](auto& record) { record.range_id = id; })) {
      return id;
    }
  }
  // A range that triggered a capture keeps its id, or its end would not be found.
  return __builtin_expect(g_capture_by_range, 0) ? id : id ^ 1;
}

void EndRange(const Domain* domain, uint64_t id, const PayloadData* blobs, size_t blob_count) {
  if (id == 0) {
    AddCounter(Counter::kEndsUnknown);
    return;
  }
  if ((id & 1) != 0 && Collecting()) {
    Guard guard;
    ThreadStream* stream = guard ? ThreadStream::Current(guard) : nullptr;
    if (stream != nullptr &&
        stream->Ensure(sizeof(format::RangeEndRecord) + EndBytes(domain, blobs, blob_count))) {
      WriteEndBlobs(*stream, domain, blobs, blob_count);
      stream->Write(format::RangeEndRecord{.range_id = id});
    }
  }
  if (__builtin_expect(g_capture_by_range, 0)) StopCaptureAtEnd(id);
}

void MarkEvent(const Event& event) {
  if (!Wanted(event.domain)) return;
  Guard guard;
  if (guard) WriteEvent<format::MarkRecord>(guard, event, [](auto&) {});
}

}  // namespace batchlight::inject::nvtx
