// NVTX names of things: categories, threads, resources, synchronization objects.
#pragma once

#include <cstddef>
#include <cstdint>

#include "inject/nvtx/nvtx_abi.h"
#include "inject/nvtx/registry.h"

namespace batchlight::inject::nvtx {

void NameCategory(const Domain* domain, uint32_t category, const char* text, size_t bytes);
void NameThread(uint32_t tid, const char* text, size_t bytes);
void NameObject(uint32_t type, uint64_t identifier, const char* text, size_t bytes);
void SayDomain(const Domain* domain, bool created);

struct Resource;  // *nvtxResourceHandle_t
Resource* CreateResource(const Domain* domain, const ResourceAttributes* attributes);
void DestroyResource(Resource* resource);

// A lock that the program built itself: waiting for it is a push/pop range "acquire NAME", holding
// it a start/end range "hold NAME".
struct SyncUser;  // *nvtxSyncUser_t
SyncUser* CreateSyncUser(const Domain* domain, const SyncUserAttributes* attributes);
void DestroySyncUser(SyncUser* sync);
void SyncAcquireStart(SyncUser* sync);
void SyncAcquireFailed(SyncUser* sync);
void SyncAcquireSuccess(SyncUser* sync);
void SyncReleasing(SyncUser* sync);

}  // namespace batchlight::inject::nvtx
