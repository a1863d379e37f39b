#include "inject/nvtx/names.h"

#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/nvtx/domain_field.h"
#include "inject/nvtx/event.h"
#include "inject/nvtx/ranges.h"

namespace batchlight::inject::nvtx {

using format::CategoryNameRecord;
using format::DomainLifeRecord;
using format::ResourceNameRecord;
using format::ThreadNameRecord;

struct Resource {
  const Domain* domain;
  uint64_t identifier;
  uint32_t type;
  Resource* next_free;
};

struct SyncUser {
  const Domain* domain;
  Name acquire;  // "acquire NAME"
  Name hold;     // "hold NAME"
  uint64_t held_range;
};

namespace {

Resource* g_free_resources = nullptr;

// nullptr: the program goes without a handle.
Resource* NewResource() {
  Guard guard;
  if (!guard) return nullptr;
  Locked locked(RegistryLock());
  if (!locked) return nullptr;
  Resource* resource = g_free_resources;
  if (resource == nullptr) return static_cast<Resource*>(Allocate(sizeof(Resource)));
  g_free_resources = resource->next_free;
  return resource;
}

void SayResource(const Domain* domain, uint32_t type, uint64_t identifier, const Name& name,
                 bool destroyed) {
  Guard guard;
  if (!guard || !Enabled(domain)) return;
  AddFact(
      guard,
      ResourceNameRecord{.type = type, .identifier = identifier, .destroyed = destroyed ? 1u : 0u},
      {DomainField(offsetof(ResourceNameRecord, domain), domain),
       {offsetof(ResourceNameRecord, name), name.text, name.bytes}});
}

// "prefix name" in permanent memory.
Name Prefixed(const char* prefix, const Name& name) {
  const size_t prefix_bytes = std::strlen(prefix);
  auto* text = static_cast<char*>(Allocate(prefix_bytes + name.bytes));
  if (text == nullptr) return {};
  std::memcpy(text, prefix, prefix_bytes);
  std::memcpy(text + prefix_bytes, name.text, name.bytes);
  return MakeName(text, prefix_bytes + name.bytes);
}

Event SyncEvent(const SyncUser& sync, const Name& name) {
  Event event;
  event.domain = sync.domain;
  event.message = name;
  return event;
}

}  // namespace

void NameCategory(const Domain* domain, uint32_t category, const char* text, size_t bytes) {
  Guard guard;
  if (!guard || !Enabled(domain)) return;
  AddFact(guard, CategoryNameRecord{.category = category},
          {DomainField(offsetof(CategoryNameRecord, domain), domain),
           {offsetof(CategoryNameRecord, name), text, bytes}});
}

void NameThread(uint32_t tid, const char* text, size_t bytes) {
  constexpr uint32_t kByNvtx = 1;
  Guard guard;
  if (!guard) return;
  AddFact(guard, ThreadNameRecord{.tid = tid, .source = kByNvtx},
          {{offsetof(ThreadNameRecord, name), text, bytes}});
}

void NameObject(uint32_t type, uint64_t identifier, const char* text, size_t bytes) {
  SayResource(nullptr, type, identifier, {text, bytes, 0}, false);
}

void SayDomain(const Domain* domain, bool created) {
  Guard guard;
  if (!guard || domain == nullptr || !Enabled(domain)) return;
  AddFact(guard, DomainLifeRecord{.created = created ? 1u : 0u},
          {DomainField(offsetof(DomainLifeRecord, domain), domain)});
}

Resource* CreateResource(const Domain* domain, const ResourceAttributes* attributes) {
  if (attributes == nullptr || attributes->size < sizeof *attributes) return nullptr;
  TextArgument wide;
  uint16_t flags = 0;
  const Name name = ReadMessage(attributes->message_type, attributes->message, &wide, &flags);
  Resource* resource = NewResource();
  const auto type = static_cast<uint32_t>(attributes->identifier_type);
  if (resource != nullptr) *resource = {domain, attributes->identifier, type, nullptr};
  if (type == kThreadNative) {
    NameThread(static_cast<uint32_t>(attributes->identifier), name.text, name.bytes);
  }
  SayResource(domain, type, attributes->identifier, name, false);
  return resource;
}

void DestroyResource(Resource* resource) {
  if (resource == nullptr) return;
  SayResource(resource->domain, resource->type, resource->identifier, {"", 0, 0}, true);
  Guard guard;
  if (!guard) return;
  Locked locked(RegistryLock());
  if (!locked) return;
  resource->next_free = g_free_resources;
  g_free_resources = resource;
}

SyncUser* CreateSyncUser(const Domain* domain, const SyncUserAttributes* attributes) {
  if (attributes == nullptr || attributes->size < sizeof *attributes) return nullptr;
  TextArgument wide;
  uint16_t flags = 0;
  const Name name = ReadMessage(attributes->message_type, attributes->message, &wide, &flags);
  SyncUser* sync;
  {
    Guard guard;
    if (!guard) return nullptr;
    Locked locked(RegistryLock());
    sync = locked ? static_cast<SyncUser*>(Allocate(sizeof(SyncUser))) : nullptr;
    if (sync == nullptr) return nullptr;
    *sync = {domain, Prefixed("acquire ", name), Prefixed("hold ", name), 0};
  }
  SayResource(domain, ResourceType(kClassSyncUser, 0), reinterpret_cast<uint64_t>(sync), name,
              false);
  return sync;
}

void DestroySyncUser(SyncUser* sync) {
  if (sync == nullptr) return;
  SayResource(sync->domain, ResourceType(kClassSyncUser, 0), reinterpret_cast<uint64_t>(sync),
              {"", 0, 0}, true);
}

void SyncAcquireStart(SyncUser* sync) {
  if (sync != nullptr) PushEvent(SyncEvent(*sync, sync->acquire));
}

void SyncAcquireFailed(SyncUser* sync) {
  if (sync != nullptr) Pop(sync->domain, nullptr, 0);
}

// The holder is alone, so the field needs no lock of its own.
void SyncAcquireSuccess(SyncUser* sync) {
  if (sync == nullptr) return;
  Pop(sync->domain, nullptr, 0);
  sync->held_range = StartRange(SyncEvent(*sync, sync->hold));
}

void SyncReleasing(SyncUser* sync) {
  if (sync == nullptr || sync->held_range == 0) return;
  const uint64_t range = sync->held_range;
  sync->held_range = 0;
  EndRange(sync->domain, range, nullptr, 0);
}

}  // namespace batchlight::inject::nvtx
