#include "inject/nvtx/event.h"

#include <cstring>

namespace batchlight::inject::nvtx {
namespace {

// A header's attributes are whole unless it is a version we do not know.
const EventAttributes* WholeAttributes(const EventAttributes* attributes, EventAttributes* copy) {
  if (attributes->size >= sizeof(EventAttributes)) return attributes;
  *copy = {};
  const size_t bytes = attributes->size >= 4 ? attributes->size : 4;
  std::memcpy(copy, attributes, bytes);
  return copy;
}

bool FindPayloadMessage(Event* event) {
  return event->blob_count != 0 &&
         MessageOfPayload(event->domain, event->blobs, event->blob_count, &event->message);
}

}  // namespace

Name ReadMessage(int32_t type, const void* value, TextArgument* wide, uint16_t* flags) {
  if (value == nullptr) return {};
  switch (type) {
    case kAscii: {
      const auto* text = static_cast<const char*>(value);
      return MakeName(text, std::strlen(text));
    }
    case kUnicode:
      wide->Convert(static_cast<const wchar_t*>(value));
      return MakeName(wide->text(), wide->bytes());
    case kRegistered:
      *flags |= kFlagRegistered;
      return static_cast<const RegisteredString*>(value)->name;
    default:
      return {};
  }
}

AttributedEvent::AttributedEvent(const Domain* domain, const EventAttributes* given) {
  event_.domain = domain;
  if (given == nullptr) return;
  EventAttributes copy;
  const EventAttributes& attributes = *WholeAttributes(given, &copy);
  event_.category = attributes.category;
  if (attributes.color_type == kArgb) {
    event_.flags |= kFlagColor;
    event_.color = attributes.color;
  }
  if (attributes.payload_type == kExtPayload) {
    event_.blobs = reinterpret_cast<const PayloadData*>(attributes.payload);
    event_.blob_count = CountBlobs(event_.blobs, attributes.payload_count);
  } else if (attributes.payload_type > kNoPayload && attributes.payload_type <= kFloat) {
    event_.payload_type = static_cast<uint16_t>(attributes.payload_type);
    const bool half = attributes.payload_type >= kUint32;
    event_.payload = half ? attributes.payload & 0xffffffff : attributes.payload;
  }
  event_.message = ReadMessage(attributes.message_type, attributes.message, &wide_, &event_.flags);
  if (event_.blob_count != 0) {
    event_.flags |= kFlagBlobs;
    if (event_.message.bytes == 0) FindPayloadMessage(&event_);
  }
}

Event PayloadEvent(const Domain* domain, const PayloadData* data, size_t count) {
  Event event;
  event.domain = domain;
  event.blobs = data;
  event.blob_count = CountBlobs(data, static_cast<int64_t>(count));
  if (event.blob_count != 0) event.flags = kFlagBlobs;
  FindPayloadMessage(&event);
  return event;
}

size_t EventBytes(const Event& event) {
  size_t bytes = StringBytes(event.message.bytes);
  if (event.domain != nullptr) bytes += StringBytes(event.domain->name.bytes);
  if (event.blob_count != 0) bytes += BlobsBytes(event.domain, event.blobs, event.blob_count);
  return bytes;
}

}  // namespace batchlight::inject::nvtx
