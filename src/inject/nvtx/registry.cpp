#include "inject/nvtx/registry.h"

#include <atomic>
#include <cstring>

#include "inject/buffer/chunk_file.h"
#include "inject/buffer/thread_stream.h"
#include "inject/nvtx/library_calls.h"
#include "inject/rt/control.h"
#include "inject/rt/counters.h"
#include "inject/rt/guard.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject::nvtx {
namespace {

constexpr size_t kBlockBytes = 64u << 10;
constexpr size_t kStringBuckets = 1024;

Lock g_lock;
char* g_free = nullptr;  // rest of the present block
size_t g_free_bytes = 0;
RegisteredString* g_strings[kStringBuckets];
Domain* g_domains = nullptr;
uint32_t g_domain_count = 0;

bool Same(const Name& a, const Name& b) {
  return a.hash == b.hash && a.bytes == b.bytes && std::memcmp(a.text, b.text, a.bytes) == 0;
}

// A copy of the name, in permanent memory behind an object of T.
template <class T>
T* AllocateNamed(const Name& name) {
  auto* object = static_cast<T*>(Allocate(sizeof(T) + name.bytes + 1));
  if (object == nullptr) return nullptr;
  auto* text = reinterpret_cast<char*>(object + 1);
  std::memcpy(text, name.text, name.bytes);
  object->name = {text, name.bytes, name.hash};
  return object;
}

// Whether the control page's list (NUL-separated, ended by an empty name) has this name.
bool Listed(const char* list, size_t capacity, const char* text, size_t bytes) {
  for (const char* at = list; at < list + capacity && *at != 0;) {
    const size_t length = strnlen(at, static_cast<size_t>(list + capacity - at));
    if (length == bytes && std::memcmp(at, text, bytes) == 0) return true;
    at += length + 1;
  }
  return false;
}

bool Wanted(const char* text, size_t bytes) {
  const format::ControlPage* page = Control();
  if (page == nullptr) return false;
  if (page->domain_filter == 0) return true;
  const bool listed = bytes == 0 ? Listed(page->domains, sizeof page->domains, "default", 7)
                                 : Listed(page->domains, sizeof page->domains, text, bytes);
  return listed == (page->domain_filter == 1);
}

// A library's domain is the user's own if -t does not name the library.
void Enable(Domain& domain) {
  const LibraryTrace library =
      TraceOf(format::LibraryOfDomain(domain.name.text, domain.name.bytes));
  domain.skips_helpers = library.wanted && !library.verbose;
  domain.enabled =
      library.wanted || (Traces(format::kTraceNvtx) && Wanted(domain.name.text, domain.name.bytes));
}

}  // namespace

bool g_default_domain_enabled = false;

Lock& RegistryLock() { return g_lock; }

Name MakeName(const char* text, size_t bytes) {
  if (bytes > format::kMaxStringBytes) bytes = ThreadStream::CutLength(text, bytes);
  return {text, bytes, HashBytes(text, bytes)};
}

void* Allocate(size_t bytes) {
  bytes = Align8(bytes);
  if (bytes > g_free_bytes) {
    const size_t block = bytes > kBlockBytes ? (bytes + 4095) / 4096 * 4096 : kBlockBytes;
    if (!TakeBudget(block)) return nullptr;
    auto* memory = static_cast<char*>(sys::MapMemory(block));
    if (memory == nullptr) {
      ReturnBudget(block);
      return nullptr;
    }
    g_free_bytes = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    g_free = memory;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    g_free_bytes = block;
  }
  // In this order: a signal handler that jumps away in between wastes memory, no more.
  g_free_bytes -= bytes;
  std::atomic_signal_fence(std::memory_order_seq_cst);
  void* memory = g_free;
  g_free += bytes;
  return memory;
}

const RegisteredString* RegisterString(const char* text, size_t bytes) {
  const Name name = MakeName(text, bytes);
  Guard guard;
  if (!guard) return nullptr;
  Locked locked(g_lock);
  if (!locked) return nullptr;
  RegisteredString*& bucket = g_strings[name.hash % kStringBuckets];
  for (RegisteredString* known = bucket; known != nullptr; known = known->next) {
    if (Same(known->name, name)) return known;
  }
  auto* string = AllocateNamed<RegisteredString>(name);
  if (string == nullptr) {
    AddCounter(format::Counter::kEventsDroppedBudget);
    return nullptr;
  }
  string->next = bucket;
  bucket = string;
  return string;
}

const Domain* RegisterDomain(const char* text, size_t bytes) {
  const Name name = MakeName(text, bytes);
  Guard guard;
  if (!guard) return nullptr;
  Locked locked(g_lock);
  if (!locked) return nullptr;
  for (Domain* known = g_domains; known != nullptr; known = known->next) {
    if (Same(known->name, name)) return known;
  }
  auto* domain = AllocateNamed<Domain>(name);
  if (domain == nullptr) {
    AddCounter(format::Counter::kEventsDroppedBudget);
    return nullptr;
  }
  domain->id = bytes == 0 ? 0 : ++g_domain_count;
  Enable(*domain);
  domain->next = g_domains;
  g_domains = domain;
  return domain;
}

void ReadDomainFilter() { g_default_domain_enabled = Traces(format::kTraceNvtx) && Wanted("", 0); }

}  // namespace batchlight::inject::nvtx
