// One NVTX event with everything the program said about it, and its way into the recording.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/buffer/thread_stream.h"
#include "inject/nvtx/nvtx_abi.h"
#include "inject/nvtx/payload.h"
#include "inject/nvtx/registry.h"
#include "inject/nvtx/text_argument.h"

namespace batchlight::inject::nvtx {

// Flags of RangePush, RangePushEx, RangeStart and Mark records.
inline constexpr uint16_t kFlagRegistered = 1;
inline constexpr uint16_t kFlagColor = 2;
inline constexpr uint16_t kFlagBlobs = 4;

struct Event {
  const Domain* domain = nullptr;
  Name message = {nullptr, 0, 0};
  uint32_t category = 0;
  uint32_t color = 0;
  uint16_t flags = 0;
  uint16_t payload_type = 0;
  uint64_t payload = 0;
  const PayloadData* blobs = nullptr;
  size_t blob_count = 0;
};

// The event that the program's attributes describe. Fields beyond attributes->size are taken as
// not set.
class AttributedEvent {
 public:
  AttributedEvent(const Domain* domain, const EventAttributes* attributes);
  const Event& event() const { return event_; }

 private:
  Event event_;
  TextArgument wide_;  // holds a converted wchar_t message
};

// Reads a message given as (type, value), as events, resources and sync objects have it.
Name ReadMessage(int32_t type, const void* value, TextArgument* wide, uint16_t* flags);

inline Event TextEvent(const char* text) {
  Event event;
  if (text != nullptr) event.message = MakeName(text, std::strlen(text));
  return event;
}

// An event of the payload extension: its message, if it has one, is in the payload.
Event PayloadEvent(const Domain* domain, const PayloadData* data, size_t count);

// The most room that the event's record, strings and blobs take.
size_t EventBytes(const Event& event);

inline format::StringRef InternName(ThreadStream& stream, const Name& name) {
  return stream.InternHashed(name.text, name.bytes, name.hash);
}

// Writes the event as a record of type R (RangePushEx, RangeStart, Mark; `extra` fills what only
// some have), then its blobs. False if there was no room or the thread is inside the recorder.
template <class R, class Extra>
bool WriteEvent(const Guard& guard, const Event& event, Extra extra) {
  ThreadStream* stream = ThreadStream::Current(guard);
  if (stream == nullptr || !stream->Ensure(sizeof(R) + EventBytes(event))) return false;
  R record = {};
  record.message = InternName(*stream, event.message);
  if (event.domain != nullptr) record.domain = InternName(*stream, event.domain->name);
  record.category = event.category;
  record.color = event.color;
  record.flags = event.flags;
  record.payload_type = event.payload_type;
  record.payload = event.payload;
  extra(record);
  stream->WriteShort(record);
  if (event.blob_count != 0) WriteBlobs(*stream, event.domain, event.blobs, event.blob_count);
  return true;
}

}  // namespace batchlight::inject::nvtx
