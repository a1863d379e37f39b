#include "inject/nvtx/registry.h"

#include <atomic>
#include <cstring>

#include "inject/buffer/chunk_file.h"
#include "inject/buffer/thread_stream.h"
#include "inject/nvtx/library_calls.h"
#include "inject/nvtx/named_table.h"
#include "inject/rt/control.h"
#include "inject/rt/counters.h"
#include "inject/rt/guard.h"
#include "inject/rt/sys.h"
#include "inject/rt/text.h"

namespace batchlight::inject::nvtx {
namespace {

constexpr size_t kBlockBytes = 64u << 10;

Lock g_lock;
char* g_free = nullptr;  // rest of the present block
size_t g_free_bytes = 0;
constinit NamedTable<RegisteredString> g_strings = {};
constinit NamedTable<Domain> g_domains = {};
uint32_t g_domain_count = 0;

bool Same(const Name& a, const Name& b) {
  return a.hash == b.hash && a.bytes == b.bytes && std::memcmp(a.text, b.text, a.bytes) == 0;
}

template <class T>
T* FindNamed(const NamedTable<T>& table, const Name& name) {
  return table.Find(name.hash, [&name](const T& known) { return Same(known.name, name); });
}

// An object of T with a copy of the name behind it, in permanent memory, for which the table has
// room. nullptr, and counted, if there is no memory.
template <class T>
T* AllocateNamed(NamedTable<T>& table, const Name& name) {
  auto* object = table.MakeRoom() ? static_cast<T*>(Allocate(sizeof(T) + name.bytes + 1)) : nullptr;
  if (object == nullptr) {
    AddCounter(format::Counter::kEventsDroppedBudget);
    return nullptr;
  }
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
  if (const RegisteredString* known = FindNamed(g_strings, name)) return known;
  auto* string = AllocateNamed(g_strings, name);
  if (string == nullptr) return nullptr;
  g_strings.Insert(string);
  return string;
}

const Domain* RegisterDomain(const char* text, size_t bytes) {
  const Name name = MakeName(text, bytes);
  Guard guard;
  if (!guard) return nullptr;
  Locked locked(g_lock);
  if (!locked) return nullptr;
  if (const Domain* known = FindNamed(g_domains, name)) return known;
  auto* domain = AllocateNamed(g_domains, name);
  if (domain == nullptr) return nullptr;
  domain->id = bytes == 0 ? 0 : ++g_domain_count;
  Enable(*domain);
  g_domains.Insert(domain);
  return domain;
}

void ReadDomainFilter() { g_default_domain_enabled = Traces(format::kTraceNvtx) && Wanted("", 0); }

}  // namespace batchlight::inject::nvtx
