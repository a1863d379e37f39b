// Small objects come out of arenas that Python maps, which no shim of malloc sees; large ones out
// of malloc. Both pass here first, and what is below then stays silent. A small one that is to be
// told of is asked for as a large one: so all of these are blocks of malloc, the shim of free sees
// them go, and Python's own free has nothing in front of it.
#include "inject/memory_shims/python_allocator.h"

#include "inject/memory_shims/sampler.h"

namespace batchlight::inject::memory {
namespace {

enum Domain { kRaw, kMem, kObject, kDomains };
constinit PythonAllocator g_inner[kDomains] = {};  // what was in place before

// Blocks up to this size come from where no shim of malloc sees them; 0: none do.
constexpr size_t kLeastBytes = 16, kSmallBytes = 512;
constinit size_t g_apart_bytes = 0;
// Blocks that are told of are not those of malloc: frees have to pass here, too.
constinit bool g_watches_frees = false;

// While it lives, calls from further inside are not told of. False: this is one of those.
class InPython {
 public:
  InPython() : outermost_(!t_sampler.in_python) { t_sampler.in_python = true; }
  ~InPython() {
    if (outermost_) t_sampler.in_python = false;
  }
  InPython(const InPython&) = delete;
  InPython& operator=(const InPython&) = delete;
  explicit operator bool() const { return outermost_; }

 private:
  const bool outermost_;
};

// give(bytes) asks the allocator below.
template <class Give>
[[gnu::noinline]] void* GivenFromInside(size_t bytes, Give give) {
  const size_t asked = !g_watches_frees && bytes <= g_apart_bytes ? g_apart_bytes + 1 : bytes;
  void* block;
  bool outermost;
  {
    const InPython in_python;
    outermost = static_cast<bool>(in_python);
    block = give(asked);
  }
  if (outermost) Allocated(block, bytes, Source::kPython);
  return block;
}

template <class Give>
[[gnu::noinline]] void* GivenAndLookedAt(size_t bytes, Give give) {
  if (bytes > g_apart_bytes || !g_watches_frees) return GivenFromInside(bytes, give);
  void* block = give(bytes);
  Allocated(block, bytes, Source::kPython);
  return block;
}

// Most blocks are not looked at: then the allocator below is all that is left to call, and a jump
// will do.
template <class Give>
void* Given(size_t bytes, Give give) {
  if (__builtin_expect(bytes <= g_apart_bytes && Passes(bytes), 1)) return give(bytes);
  return GivenAndLookedAt(bytes, give);
}

// Each has the context of the allocator below, whose other functions can stay in place.
template <Domain kDomain>
void* Malloc(void* context, size_t bytes) {
  return Given(bytes, [=](size_t asked) { return g_inner[kDomain].malloc(context, asked); });
}

template <Domain kDomain>
void* Calloc(void* context, size_t count, size_t bytes) {
  const size_t all = count * bytes;
  return Given(all, [=](size_t asked) {
    if (asked != all) return g_inner[kDomain].calloc(context, 1, asked);
    return g_inner[kDomain].calloc(context, count, bytes);
  });
}

// The block may be a large one, wherever it moves.
template <Domain kDomain>
void* Realloc(void* context, void* block, size_t bytes) {
  const auto give = [=](size_t asked) { return g_inner[kDomain].realloc(context, block, asked); };
  if (block != nullptr && !t_sampler.in_python) Freeing(block);
  if (!g_watches_frees && bytes <= g_apart_bytes && Passes(bytes)) {
    const InPython in_python;
    return give(bytes);
  }
  return GivenFromInside(bytes, give);
}

// What is told of and forgotten here is not known any more to the shim of free below.
template <Domain kDomain>
[[gnu::noinline]] void FreeAndTell(void* context, void* block) {
  if (block == nullptr) return;
  if (!g_all || !t_sampler.in_python) Freeing(block);
  const InPython in_python;
  g_inner[kDomain].free(context, block);
}

template <Domain kDomain>
void Free(void* context, void* block) {
  if (__builtin_expect(MayBeTold(block), 0)) return FreeAndTell<kDomain>(context, block);
  g_inner[kDomain].free(context, block);
}

// Where a block of that size comes from: a debug build or PYTHONMALLOC may have it otherwise than
// Python's own allocator.
enum class Origin { kApart, kMalloc, kInMalloc };  // kInMalloc: it is a part of one of malloc's

Origin OriginOf(const PythonAllocator& inner, size_t bytes) {
  t_sampler.last = nullptr;
  void* block = inner.malloc(inner.context, bytes);
  const void* last = t_sampler.last;
  if (block != nullptr) inner.free(inner.context, block);
  if (last == nullptr) return Origin::kApart;
  return last == block ? Origin::kMalloc : Origin::kInMalloc;
}

template <Domain kDomain>
void Watch(SetPythonAllocator* set) {
  PythonAllocator ours = g_inner[kDomain];
  ours.malloc = Malloc<kDomain>;
  ours.calloc = Calloc<kDomain>;
  ours.realloc = Realloc<kDomain>;
  if (g_watches_frees) ours.free = Free<kDomain>;
  set(kDomain, &ours);
}

}  // namespace

void WatchPython(GetPythonAllocator* get, SetPythonAllocator* set) {
  if (g_inner[kObject].malloc != nullptr) return;
  bool are_apart = true;
  for (const int domain : {kMem, kObject}) {
    get(domain, &g_inner[domain]);
    for (const size_t bytes : {kLeastBytes, kSmallBytes}) {
      are_apart = are_apart && OriginOf(g_inner[domain], bytes) == Origin::kApart;
    }
  }
  g_apart_bytes = are_apart ? kSmallBytes : 0;
  // Where all blocks are told of, small ones stay small.
  const size_t least_told = g_all ? kLeastBytes : g_apart_bytes + 1;
  for (const int domain : {kMem, kObject}) {
    g_watches_frees = g_watches_frees || OriginOf(g_inner[domain], least_told) != Origin::kMalloc;
  }
  Watch<kMem>(set);
  Watch<kObject>(set);
}

}  // namespace batchlight::inject::memory
