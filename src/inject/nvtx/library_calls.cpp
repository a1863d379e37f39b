#include "inject/nvtx/library_calls.h"

#include <atomic>
#include <cstring>

#include "inject/rt/control.h"

namespace batchlight::inject::nvtx {
namespace {

constexpr char kKey[] = "libraries=";

bool StartsWith(const char* text, size_t bytes, const char* word) {
  const size_t length = std::strlen(word);
  return length <= bytes && std::memcmp(text, word, length) == 0;
}

bool Contains(const char* text, size_t bytes, const char* word) {
  for (size_t i = 0; i < bytes; ++i) {
    if (StartsWith(text + i, bytes - i, word)) return true;
  }
  return false;
}

// Without the library's own prefix: cublasLtMatmul is Matmul.
size_t PrefixBytes(const char* name, size_t bytes) {
  size_t at = 0;
  while (at < bytes && name[at] >= 'a' && name[at] <= 'z') ++at;
  for (const char* part : {"Lt", "Xt", "Dn", "Mg"}) {
    if (StartsWith(name + at, bytes - at, part)) return at + 2;
  }
  return at;
}

// Hashes of names, in which the lowest bit says whether it is a helper; 0: none yet. Names that
// fall on one place take turns.
constexpr int kKnownBits = 8;
constinit std::atomic<uint64_t> g_known[size_t{1} << kKnownBits] = {};

// Copies between host and device, whose names say "set" and "get" as well.
bool IsTransfer(const char* rest, size_t bytes) {
  return StartsWith(rest + 3, bytes - 3, "Vector") || StartsWith(rest + 3, bytes - 3, "Matrix");
}

}  // namespace

LibraryTrace TraceOf(format::Library library) {
  const format::ControlPage* page = Control();
  if (page == nullptr) return {};
  const char* at = std::strstr(page->extra, kKey);
  if (at == nullptr || (at != page->extra && at[-1] != '\n')) return {};
  at += sizeof kKey - 1;
  LibraryTrace trace = {};
  while (*at != 0 && *at != '\n') {
    const size_t bytes = std::strcspn(at, ",\n");
    for (const format::LibraryWord& known : format::kLibraryWords) {
      if (known.library != library || !StartsWith(at, bytes, known.word)) continue;
      trace.wanted = true;
      if (bytes > std::strlen(known.word)) trace.verbose = true;
    }
    at += bytes;
    if (*at == ',') ++at;
  }
  return trace;
}

bool IsHelperCall(const char* name, size_t bytes) {
  const size_t prefix = PrefixBytes(name, bytes);
  const char* rest = name + prefix;
  const size_t left = bytes - prefix;
  const bool sets = StartsWith(rest, left, "Set") || StartsWith(rest, left, "Get");
  if (sets) return !IsTransfer(rest, left);
  for (const char* verb : {"Create", "Destroy"}) {
    if (!StartsWith(rest, left, verb)) continue;
    // The library's own handle: its first one takes long.
    const size_t verb_bytes = std::strlen(verb);
    return left > verb_bytes && !StartsWith(rest + verb_bytes, left - verb_bytes, "_v");
  }
  for (const char* part : {"Desc", "Layout", "Preference", "Attribute", "ufferSize", "MatGet",
                           "MatSet", "VecGet", "VecSet"}) {
    if (Contains(rest, left, part)) return true;
  }
  return false;
}

bool IsHelperCall(const char* name, size_t bytes, uint64_t hash) {
  std::atomic<uint64_t>& place = g_known[hash >> (64 - kKnownBits)];
  const uint64_t known = place.load(std::memory_order_relaxed);
  if (__builtin_expect(known != 0 && (known | 1) == (hash | 1), 1)) return (known & 1) != 0;
  const bool is_helper = IsHelperCall(name, bytes);
  place.store((hash & ~uint64_t{1}) | (is_helper ? 1 : 0), std::memory_order_relaxed);
  return is_helper;
}

}  // namespace batchlight::inject::nvtx
