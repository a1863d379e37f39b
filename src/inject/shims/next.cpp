#include "inject/shims/next.h"

#include <dlfcn.h>

#include "inject/rt/glibc.h"  // dlsym and dlvsym, as every glibc has them

// Of the sanitizers and of glibc; nullptr without them. And of the other library.
extern "C" {
__attribute__((weak)) void __asan_init();
__attribute__((weak)) void __tsan_init();
__attribute__((weak)) void __msan_init();
__attribute__((weak)) void __hwasan_init();
__attribute__((weak)) const char* gnu_get_libc_version();
}
#pragma weak batchlight_os_api

namespace batchlight::inject::shims {

constinit void* g_next[osrt::kCallNumbers] = {};
constinit void* g_next_trylock = nullptr;
constinit void* g_next_tryread = nullptr;
constinit void* g_next_trywrite = nullptr;
constinit void* g_next_trysemaphore = nullptr;
constinit void* g_next_syscall = nullptr;
constinit bool g_is_glibc = false;
constinit const OsApi* g_api = nullptr;
constinit __thread uint32_t t_vforks = 0;

namespace {

constinit const std::atomic<uint32_t> kOff{0};
constinit __thread bool t_looking_up = false;

struct Name {
  OsCall call;
  const char* name;
};
constexpr Name kNames[] = {
#define OS_CALL(name, number, doing) {OsCall::k_##name, #name},
#include "format/os_calls.def"
#undef OS_CALL
};

// dlsym finds the oldest version of a symbol, where glibc before 2.36 is asked for what comes next.
// For these that is another one than programs of this century call, with other structs.
struct Version {
  OsCall call;
  const char* version;
};
constexpr Version kVersions[] = {{OsCall::k_pthread_cond_wait, "GLIBC_2.3.2"},
                                 {OsCall::k_pthread_cond_timedwait, "GLIBC_2.3.2"},
                                 {OsCall::k_pthread_cond_signal, "GLIBC_2.3.2"},
                                 {OsCall::k_pthread_cond_broadcast, "GLIBC_2.3.2"},
                                 {OsCall::k_posix_spawn, "GLIBC_2.15"},
                                 {OsCall::k_posix_spawnp, "GLIBC_2.15"}};

void* Find(const char* name) {
  if (dlsym == nullptr || t_looking_up) return nullptr;
  // Should the loader allocate, and the program's malloc call us.
  t_looking_up = true;
  void* found = dlsym(RTLD_NEXT, name);
  t_looking_up = false;
  return found;
}

void* FindVersion(const char* name, const char* version) {
  if (dlvsym == nullptr || t_looking_up) return nullptr;
  t_looking_up = true;
  void* found = dlvsym(RTLD_NEXT, name, version);
  t_looking_up = false;
  return found;
}

const char* NameOf(OsCall call) {
  for (const Name& known : kNames) {
    if (known.call == call) return known.name;
  }
  return nullptr;
}

void FindAll() {
  // First what an allocator calls, lest the lookup of the others need them.
  for (const OsCall call :
       {OsCall::k_pthread_mutex_lock, OsCall::k_mmap, OsCall::k_mmap64, OsCall::k_munmap,
        OsCall::k_madvise, OsCall::k_read, OsCall::k_open, OsCall::k_open64, OsCall::k_close}) {
    FindNext(call);
  }
  g_next_syscall = Find("syscall");
  g_next_trylock = Find("pthread_mutex_trylock");
  g_next_tryread = Find("pthread_rwlock_tryrdlock");
  g_next_trywrite = Find("pthread_rwlock_trywrlock");
  g_next_trysemaphore = Find("sem_trywait");
  for (const Name& known : kNames) FindNext(known.call);
}

// A sanitizer has functions of the same names, and must see the program's calls as they are.
bool HasSanitizer() {
  return __asan_init != nullptr || __tsan_init != nullptr || __msan_init != nullptr ||
         __hwasan_init != nullptr;
}

__attribute__((constructor)) void Start() {
  FindAll();
  g_is_glibc = gnu_get_libc_version != nullptr;
  const OsApi* api = batchlight_os_api != nullptr ? batchlight_os_api() : nullptr;
  if (api == nullptr) return;
  if (HasSanitizer()) {
    api->reason(
        "the program has a sanitizer, which takes the same place between it and the C "
        "library: its calls are not recorded");
    return;
  }
  g_api = api;
  g_state = api->state;
}

}  // namespace

constinit const std::atomic<uint32_t>* g_state = &kOff;

void* FindNext(OsCall call) {
  void*& next = g_next[static_cast<uint32_t>(call)];
  if (next != nullptr) return next;
  const char* name = NameOf(call);
  if (name == nullptr) return nullptr;
  for (const Version& version : kVersions) {
    if (version.call == call) next = FindVersion(name, version.version);
  }
  if (next == nullptr) next = Find(name);
  return next;
}

}  // namespace batchlight::inject::shims
