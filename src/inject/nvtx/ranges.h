// NVTX ranges and marks: the hot functions. Parameters and results as NVTX defines them.
#pragma once

#include <cstdint>

#include "inject/nvtx/event.h"

namespace batchlight::inject::nvtx {

int PushText(const char* text);
int PushEvent(const Event& event);
// Ends the innermost range of the domain; `blobs` say more about its end.
int Pop(const Domain* domain, const PayloadData* blobs, size_t blob_count);
int PopDefault();

uint64_t StartRange(const Event& event);
void EndRange(const Domain* domain, uint64_t id, const PayloadData* blobs, size_t blob_count);
void MarkEvent(const Event& event);

}  // namespace batchlight::inject::nvtx
