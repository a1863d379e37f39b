// NVTX's payload extension: schemas, enums and binary payloads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/buffer/thread_stream.h"
#include "inject/nvtx/nvtx_abi.h"
#include "inject/nvtx/registry.h"

namespace batchlight::inject::nvtx {

// At most this many payloads of one event are recorded.
inline constexpr size_t kMaxBlobs = 16;

inline size_t CountBlobs(const PayloadData* data, int64_t count) {
  if (data == nullptr || count <= 0) return 0;
  return static_cast<uint64_t>(count) < kMaxBlobs ? static_cast<size_t>(count) : kMaxBlobs;
}

// Room for PayloadBlob records.
size_t BlobsBytes(const Domain* domain, const PayloadData* data, size_t count);

// Writes a PayloadBlob record for each, and after each one for every string its schema points to.
// Room must have been ensured.
void WriteBlobs(ThreadStream& stream, const Domain* domain, const PayloadData* data, size_t count);

// The field that a schema marks as the event's message.
bool MessageOfPayload(const Domain* domain, const PayloadData* data, size_t count, Name* message);

uint64_t RegisterSchema(const Domain* domain, const SchemaAttributes* attributes);
uint64_t RegisterEnum(const Domain* domain, const EnumAttributes* attributes);

}  // namespace batchlight::inject::nvtx
