#include "inject/nvtx/handlers.h"

#include <cstring>

#include "inject/buffer/facts.h"
#include "inject/nvtx/capture_range.h"
#include "inject/nvtx/names.h"
#include "inject/nvtx/nvtx_abi.h"
#include "inject/nvtx/payload.h"
#include "inject/nvtx/ranges.h"
#include "inject/rt/control.h"

namespace batchlight::inject::nvtx {
namespace {

using DomainHandle = const Domain*;

// --- events -------------------------------------------------------------------------------------

void ImplMarkEx(const EventAttributes* attributes) {
  if (Collecting()) MarkEvent(AttributedEvent(nullptr, attributes).event());
}
void ImplMarkA(const char* text) {
  if (Collecting()) MarkEvent(TextEvent(text));
}
Event WideEvent(const TextArgument& text) {
  Event event;
  event.message = MakeName(text.text(), text.bytes());
  return event;
}
void ImplMarkW(const wchar_t* text) {
  if (Collecting()) MarkEvent(WideEvent(TextArgument(text)));
}
uint64_t ImplRangeStartEx(const EventAttributes* attributes) {
  return StartRange(AttributedEvent(nullptr, attributes).event());
}
uint64_t ImplRangeStartA(const char* text) { return StartRange(TextEvent(text)); }
uint64_t ImplRangeStartW(const wchar_t* text) { return StartRange(WideEvent(TextArgument(text))); }
void ImplRangeEnd(uint64_t id) { EndRange(nullptr, id, nullptr, 0); }
int ImplRangePushEx(const EventAttributes* attributes) {
  return PushEvent(AttributedEvent(nullptr, attributes).event());
}
int ImplRangePushA(const char* text) { return PushText(text); }
int ImplRangePushW(const wchar_t* text) { return PushEvent(WideEvent(TextArgument(text))); }
int ImplRangePop() { return PopDefault(); }

void ImplDomainMarkEx(DomainHandle domain, const EventAttributes* attributes) {
  if (Collecting()) MarkEvent(AttributedEvent(domain, attributes).event());
}
uint64_t ImplDomainRangeStartEx(DomainHandle domain, const EventAttributes* attributes) {
  return StartRange(AttributedEvent(domain, attributes).event());
}
void ImplDomainRangeEnd(DomainHandle domain, uint64_t id) { EndRange(domain, id, nullptr, 0); }
int ImplDomainRangePushEx(DomainHandle domain, const EventAttributes* attributes) {
  return PushEvent(AttributedEvent(domain, attributes).event());
}
int ImplDomainRangePop(DomainHandle domain) { return Pop(domain, nullptr, 0); }

// --- names: an A and a W function each ----------------------------------------------------------

template <class Character>
void ImplNameCategory(uint32_t category, const Character* text) {
  const TextArgument name(text);
  NameCategory(nullptr, category, name.text(), name.bytes());
}
template <class Character>
void ImplNameOsThread(uint32_t tid, const Character* text) {
  const TextArgument name(text);
  NameThread(tid, name.text(), name.bytes());
}
template <class Character>
void ImplDomainNameCategory(DomainHandle domain, uint32_t category, const Character* text) {
  const TextArgument name(text);
  NameCategory(domain, category, name.text(), name.bytes());
}
template <class Character>
const RegisteredString* ImplDomainRegisterString(DomainHandle, const Character* text) {
  const TextArgument name(text);
  return RegisterString(name.text(), name.bytes());
}
template <class Character>
DomainHandle ImplDomainCreate(const Character* text) {
  const TextArgument name(text);
  const Domain* domain = RegisterDomain(name.text(), name.bytes());
  SayDomain(domain, true);
  return domain;
}
void ImplDomainDestroy(DomainHandle domain) { SayDomain(domain, false); }
void ImplInitialize(const void*) {}

template <uint32_t kType, class Id, class Character>
void ImplNameObject(Id id, const Character* text) {
  const TextArgument name(text);
  uint64_t identifier = 0;
  std::memcpy(&identifier, &id, sizeof id);
  NameObject(kType, identifier, name.text(), name.bytes());
}

// --- tables -------------------------------------------------------------------------------------

struct Slots {
  Function** slots;
  unsigned count;

  template <class F>
  void Set(unsigned index, F* function) const {
    if (index < count && slots[index] != nullptr) {
      *slots[index] = reinterpret_cast<Function>(function);
    }
  }
  // The pair of functions that name objects of one kind.
  template <uint32_t kType, class Id>
  void SetNames(unsigned index) const {
    Set(index, ImplNameObject<kType, Id, char>);
    Set(index + 1, ImplNameObject<kType, Id, wchar_t>);
  }
};

void FillCore(const Slots& to) {
  to.Set(kMarkEx, ImplMarkEx);
  to.Set(kMarkA, ImplMarkA);
  to.Set(kMarkW, ImplMarkW);
  to.Set(kRangeStartEx, ImplRangeStartEx);
  to.Set(kRangeStartA, ImplRangeStartA);
  to.Set(kRangeStartW, ImplRangeStartW);
  to.Set(kRangeEnd, ImplRangeEnd);
  to.Set(kRangePushEx, ImplRangePushEx);
  to.Set(kRangePushA, ImplRangePushA);
  to.Set(kRangePushW, ImplRangePushW);
  to.Set(kRangePop, ImplRangePop);
  to.Set(kNameCategoryA, ImplNameCategory<char>);
  to.Set(kNameCategoryW, ImplNameCategory<wchar_t>);
  to.Set(kNameOsThreadA, ImplNameOsThread<char>);
  to.Set(kNameOsThreadW, ImplNameOsThread<wchar_t>);
}

void FillCore2(const Slots& to) {
  to.Set(kDomainMarkEx, ImplDomainMarkEx);
  to.Set(kDomainRangeStartEx, ImplDomainRangeStartEx);
  to.Set(kDomainRangeEnd, ImplDomainRangeEnd);
  to.Set(kDomainRangePushEx, ImplDomainRangePushEx);
  to.Set(kDomainRangePop, ImplDomainRangePop);
  to.Set(kDomainResourceCreate, CreateResource);
  to.Set(kDomainResourceDestroy, DestroyResource);
  to.Set(kDomainNameCategoryA, ImplDomainNameCategory<char>);
  to.Set(kDomainNameCategoryW, ImplDomainNameCategory<wchar_t>);
  to.Set(kDomainRegisterStringA, ImplDomainRegisterString<char>);
  to.Set(kDomainRegisterStringW, ImplDomainRegisterString<wchar_t>);
  to.Set(kDomainCreateA, ImplDomainCreate<char>);
  to.Set(kDomainCreateW, ImplDomainCreate<wchar_t>);
  to.Set(kDomainDestroy, ImplDomainDestroy);
  to.Set(kInitialize, ImplInitialize);
}

void FillSync(const Slots& to) {
  to.Set(kSyncUserCreate, CreateSyncUser);
  to.Set(kSyncUserDestroy, DestroySyncUser);
  to.Set(kSyncUserAcquireStart, SyncAcquireStart);
  to.Set(kSyncUserAcquireFailed, SyncAcquireFailed);
  to.Set(kSyncUserAcquireSuccess, SyncAcquireSuccess);
  to.Set(kSyncUserReleasing, SyncReleasing);
}

void FillCuda(const Slots& to) {
  to.SetNames<ResourceType(kClassCuda, 1), int>(1);
  to.SetNames<ResourceType(kClassCuda, 2), void*>(3);
  to.SetNames<ResourceType(kClassCuda, 3), void*>(5);
  to.SetNames<ResourceType(kClassCuda, 4), void*>(7);
}

void FillCudaRt(const Slots& to) {
  to.SetNames<ResourceType(kClassCudaRt, 0), int>(1);
  to.SetNames<ResourceType(kClassCudaRt, 1), void*>(3);
  to.SetNames<ResourceType(kClassCudaRt, 2), void*>(5);
}

void FillOpenCl(const Slots& to) {
  to.SetNames<ResourceType(kClassOpenCl, 1), void*>(1);
  to.SetNames<ResourceType(kClassOpenCl, 2), void*>(3);
  to.SetNames<ResourceType(kClassOpenCl, 3), void*>(5);
  to.SetNames<ResourceType(kClassOpenCl, 4), void*>(7);
  to.SetNames<ResourceType(kClassOpenCl, 5), void*>(9);
  to.SetNames<ResourceType(kClassOpenCl, 6), void*>(11);
  to.SetNames<ResourceType(kClassOpenCl, 7), void*>(13);
}

void Fill(const CallbacksTable& table, int module, void (*fill)(const Slots&)) {
  Slots slots = {nullptr, 0};
  if (table.get_module_functions(module, &slots.slots, &slots.count) != 0 &&
      slots.slots != nullptr) {
    fill(slots);
  }
}

// --- payload extension --------------------------------------------------------------------------

void ImplMarkPayload(DomainHandle domain, const PayloadData* data, size_t count) {
  if (Collecting()) MarkEvent(PayloadEvent(domain, data, count));
}
int ImplRangePushPayload(DomainHandle domain, const PayloadData* data, size_t count) {
  return PushEvent(PayloadEvent(domain, data, count));
}
int ImplRangePopPayload(DomainHandle domain, const PayloadData* data, size_t count) {
  return Pop(domain, data, CountBlobs(data, static_cast<int64_t>(count)));
}
uint64_t ImplRangeStartPayload(DomainHandle domain, const PayloadData* data, size_t count) {
  return StartRange(PayloadEvent(domain, data, count));
}
void ImplRangeEndPayload(DomainHandle domain, uint64_t id, const PayloadData* data, size_t count) {
  EndRange(domain, id, data, CountBlobs(data, static_cast<int64_t>(count)));
}
uint8_t ImplDomainIsEnabled(DomainHandle domain) { return Enabled(domain) ? 1 : 0; }

void SayDeferred() {
  Guard guard;
  if (guard) {
    Reason(guard, "nvtx",
           "The program hands over NVTX events with its own time stamps (nvtxEventSubmit): these "
           "are not recorded.");
  }
}
// The other extensions: the program learns that nobody listens, and the recording that it asked.
void SayNotRecorded(const ExtensionModule& module) {
  const char* what = nullptr;
  if (module.module_id == kCountersModule) {
    what = "The program uses NVTX counters (nvtxCounterSample and others): these are not recorded.";
  } else if (module.module_id == kMemoryModule) {
    what = "The program names memory with NVTX (nvtxMemRegionsName and others): not recorded.";
  }
  Guard guard;
  if (what != nullptr && guard) Reason(guard, "nvtx", what);
}

void ImplEventSubmit(DomainHandle, const PayloadData*, size_t) { SayDeferred(); }
void ImplEventBatchSubmit(DomainHandle, const void*) { SayDeferred(); }

void FillPayload(const ExtensionSegment& to) {
  const auto set = [&to](size_t index, auto* function) {
    if (index < to.slot_count) to.slots[index] = reinterpret_cast<intptr_t>(function);
  };
  set(kSchemaRegister, RegisterSchema);
  set(kEnumRegister, RegisterEnum);
  set(kMarkPayload, ImplMarkPayload);
  set(kRangePushPayload, ImplRangePushPayload);
  set(kRangePopPayload, ImplRangePopPayload);
  set(kRangeStartPayload, ImplRangeStartPayload);
  set(kRangeEndPayload, ImplRangeEndPayload);
  set(kDomainIsEnabled, ImplDomainIsEnabled);
  set(kEventSubmit, ImplEventSubmit);
  set(kEventBatchSubmit, ImplEventBatchSubmit);
}

bool Begin() {
  if (!Traces(format::kTraceNvtx | format::kTraceLibraries)) return false;
  ReadDomainFilter();
  ReadCaptureRange();
  return true;
}

}  // namespace

bool InstallHandlers(GetExportTable* get_export_table) {
  if (!Begin()) return false;
  const auto* table = static_cast<const CallbacksTable*>(get_export_table(kCallbacksTable));
  if (table == nullptr || table->struct_size < sizeof *table) return false;
  Fill(*table, kCore, FillCore);
  Fill(*table, kCore2, FillCore2);
  Fill(*table, kSync, FillSync);
  Fill(*table, kCuda, FillCuda);
  Fill(*table, kCudaRt, FillCudaRt);
  Fill(*table, kOpenCl, FillOpenCl);
  return true;
}

bool InstallExtensionHandlers(const ExtensionModule& module) {
  if (module.struct_size < sizeof module || !Begin()) return false;
  if (module.module_id != kPayloadModule || module.segment_count == 0) {
    SayNotRecorded(module);
    return false;
  }
  FillPayload(module.segments[0]);
  return true;
}

}  // namespace batchlight::inject::nvtx
