// Small objects come out of arenas that Python maps, which no shim of malloc sees; large ones out
// of malloc. Both pass here first, and what is below then stays silent.
#include "inject/memory_shims/python_allocator.h"

#include "inject/memory_shims/sampler.h"

namespace batchlight::inject::memory {
namespace {

enum Domain { kRaw, kMem, kObject, kDomains };
constinit PythonAllocator g_inner[kDomains] = {};  // what was in place before

// Blocks up to this size come from where no shim of malloc sees them; 0: none do.
constexpr size_t kSmallBytes = 512;
constinit size_t g_apart_bytes = 0;

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

const PythonAllocator& Inner(void* context) { return *static_cast<PythonAllocator*>(context); }

template <class Give>
[[gnu::noinline]] void* GivenFromInside(size_t bytes, Give give) {
  void* block;
  bool outermost;
  {
    const InPython in_python;
    outermost = static_cast<bool>(in_python);
    block = give();
  }
  if (outermost) Allocated(block, bytes, Source::kPython);
  return block;
}

template <class Give>
[[gnu::noinline]] void* GivenAndLookedAt(size_t bytes, Give give) {
  if (bytes > g_apart_bytes) return GivenFromInside(bytes, give);
  void* block = give();
  Allocated(block, bytes, Source::kPython);
  return block;
}

// Most blocks are not looked at: then the allocator below is all that is left to call, and a jump
// will do.
template <class Give>
void* Given(size_t bytes, Give give) {
  if (__builtin_expect(bytes <= g_apart_bytes && Passes(bytes), 1)) return give();
  return GivenAndLookedAt(bytes, give);
}

void* Malloc(void* context, size_t bytes) {
  return Given(bytes, [=] { return Inner(context).malloc(Inner(context).context, bytes); });
}

void* Calloc(void* context, size_t count, size_t bytes) {
  return Given(count * bytes,
               [=] { return Inner(context).calloc(Inner(context).context, count, bytes); });
}

// The block may be a large one, wherever it moves.
void* Realloc(void* context, void* block, size_t bytes) {
  if (block != nullptr && !t_sampler.in_python) Freeing(block);
  return GivenFromInside(
      bytes, [=] { return Inner(context).realloc(Inner(context).context, block, bytes); });
}

// What is told of and forgotten here is not known any more to the shim of free below.
[[gnu::noinline]] void FreeAndTell(void* context, void* block) {
  if (block == nullptr) return;
  if (!g_all || !t_sampler.in_python) Freeing(block);
  const InPython in_python;
  Inner(context).free(Inner(context).context, block);
}

void Free(void* context, void* block) {
  if (__builtin_expect(MayBeTold(block), 0)) return FreeAndTell(context, block);
  Inner(context).free(Inner(context).context, block);
}

// Whether all blocks of that size come from somewhere else than malloc, as Python's own allocator
// has them: a debug build or PYTHONMALLOC may say otherwise.
bool IsApart(const PythonAllocator& inner, size_t bytes) {
  const uint64_t before = t_sampler.calls;
  void* block = inner.malloc(inner.context, bytes);
  if (block != nullptr) inner.free(inner.context, block);
  return t_sampler.calls == before;
}

}  // namespace

void WatchPython(GetPythonAllocator* get, SetPythonAllocator* set) {
  for (const int domain : {kMem, kObject}) {
    PythonAllocator& inner = g_inner[domain];
    if (inner.malloc != nullptr) continue;
    get(domain, &inner);
    g_apart_bytes = IsApart(inner, 16) && IsApart(inner, kSmallBytes) ? kSmallBytes : 0;
    PythonAllocator ours = {&inner, Malloc, Calloc, Realloc, Free};
    set(domain, &ours);
  }
}

}  // namespace batchlight::inject::memory
