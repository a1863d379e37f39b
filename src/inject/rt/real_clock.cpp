// The kernel's clocks, whatever the program was started with. Libraries that show a program another
// time (libfaketime, for one) replace the C library's clock_gettime; event times are of the
// processor's counter, whose rate is measured by it, and came out wrong with nothing said. Under
// the C library's name and inside this library alone, so that every call in here comes here.
#include <link.h>
#include <sys/auxv.h>
#include <time.h>

#include <atomic>
#include <cstring>

#include "inject/rt/sys.h"

namespace {

using ClockGettime = int (*)(clockid_t, timespec*);

#if defined(__aarch64__)
constexpr char kName[] = "__kernel_clock_gettime";
#else
constexpr char kName[] = "__vdso_clock_gettime";
#endif

// What the kernel maps into every process so that this is no system call; nullptr if it is not as
// it has always been. The C library finds it likewise, and does not hand it out.
ClockGettime FindInVdso() {
  const auto base = static_cast<uintptr_t>(getauxval(AT_SYSINFO_EHDR));
  if (base == 0) return nullptr;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  const ElfW(Dyn)* entry = nullptr;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_DYNAMIC) {
      entry = reinterpret_cast<const ElfW(Dyn)*>(base + segments[i].p_offset);
    } else if (segments[i].p_type == PT_LOAD && segments[i].p_vaddr != segments[i].p_offset) {
      return nullptr;
    }
  }
  uintptr_t symbols = 0, names = 0;
  size_t names_size = 0;
  for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_SYMTAB) symbols = base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRTAB) names = base + entry->d_un.d_ptr;
    if (entry->d_tag == DT_STRSZ) names_size = entry->d_un.d_val;
  }
  if (symbols == 0 || names <= symbols) return nullptr;
  // The names follow the symbols; what may lie between them is none.
  const auto* symbol = reinterpret_cast<const ElfW(Sym)*>(symbols);
  const auto* end = symbol + (names - symbols) / sizeof *symbol;
  for (; symbol < end; ++symbol) {
    if (symbol->st_value == 0 || symbol->st_shndx == SHN_UNDEF) continue;
    if (symbol->st_name + sizeof kName > names_size || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC) {
      continue;
    }
    if (std::strcmp(reinterpret_cast<const char*>(names) + symbol->st_name, kName) == 0) {
      return reinterpret_cast<ClockGettime>(base + symbol->st_value);
    }
  }
  return nullptr;
}

int BySystemCall(clockid_t clock, timespec* now) {
  return static_cast<int>(batchlight::inject::sys::Call(SYS_clock_gettime, clock, now));
}

constinit std::atomic<ClockGettime> g_clock_gettime{nullptr};

}  // namespace

extern "C" int clock_gettime(clockid_t clock, timespec* now) noexcept {
  ClockGettime real = g_clock_gettime.load(std::memory_order_relaxed);
  if (real == nullptr) {
    real = FindInVdso();
    if (real == nullptr) real = BySystemCall;
    g_clock_gettime.store(real, std::memory_order_relaxed);
  }
  return real(clock, now);
}
