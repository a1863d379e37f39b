#include "inject/backtrace/loaded_modules.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "inject/rt/process.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::backtrace {
namespace {

constexpr size_t kNameBytes = 1 << 20;
constexpr size_t kMostPathBytes = 1024;
constexpr char kVdsoName[] = "linux-vdso.so.1";
constexpr char kVdsoPath[] = "[vdso]";

bool IsRecorder(const char* path) {
  constexpr const char* kNames[] = {"libbatchlight_", "libcupti.so", "libcupti-"};
  const char* slash = std::strrchr(path, '/');
  const char* name = slash != nullptr ? slash + 1 : path;
  for (const char* own : kNames) {
    if (std::strncmp(name, own, std::strlen(own)) == 0) return true;
  }
  return false;
}

// The note with the build id, of those in a segment.
void ReadBuildId(const char* notes, size_t bytes, LoadedModule& module) {
  constexpr uint32_t kMostBuildIdBytes = 64;
  const auto padded = [](uint32_t size) { return (size_t{size} + 3) & ~size_t{3}; };
  while (bytes >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) note;
    std::memcpy(&note, notes, sizeof note);
    const size_t all = sizeof note + padded(note.n_namesz) + padded(note.n_descsz);
    if (all > bytes) return;
    const char* name = notes + sizeof note;
    if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0 &&
        note.n_descsz <= kMostBuildIdBytes) {
      module.build_id = name + padded(note.n_namesz);
      module.build_id_bytes = note.n_descsz;
      return;
    }
    notes += all;
    bytes -= all;
  }
}

native::Stretch StretchOf(const dl_phdr_info& info, const ElfW(Phdr) & segment) {
  const uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
  return {{reinterpret_cast<const uint8_t*>(begin), segment.p_filesz}, segment.p_vaddr};
}

bool Covers(const ElfW(Phdr) & load, uint64_t address) {
  return load.p_type == PT_LOAD && (load.p_flags & PF_R) != 0 && address >= load.p_vaddr &&
         address - load.p_vaddr < load.p_filesz;
}

}  // namespace

struct ModuleReader {
  LoadedModules& to;
  bool is_first = true;  // the program

  // The dynamic linker's counts, which it gives with every module.
  struct Counts {
    unsigned long long loaded = 0;
    unsigned long long unloaded = 0;
  };
  static int TakeCounts(dl_phdr_info* info, size_t bytes, void* user) {
    auto& counts = *static_cast<Counts*>(user);
    if (bytes >= offsetof(dl_phdr_info, dlpi_subs) + sizeof info->dlpi_subs) {
      counts = {info->dlpi_adds, info->dlpi_subs};
    }
    return 1;
  }

  static int Take(dl_phdr_info* info, size_t, void* user) {
    static_cast<ModuleReader*>(user)->Add(*info);
    return 0;
  }

  const char* Keep(const char* path, size_t bytes) {
    if (to.name_bytes_ + bytes + 1 > kNameBytes) return nullptr;
    char* kept = to.names_ + to.name_bytes_;
    std::memcpy(kept, path, bytes);
    kept[bytes] = 0;
    to.name_bytes_ += bytes + 1;
    return kept;
  }

  const char* PathOf(const dl_phdr_info& info) {
    const bool is_program = is_first;
    is_first = false;
    if (is_program) {
      char path[kMostPathBytes];
      const long bytes = sys::Call(SYS_readlinkat, AT_FDCWD, "/proc/self/exe", path, sizeof path);
      return bytes > 0 ? Keep(path, static_cast<size_t>(bytes)) : nullptr;
    }
    if (info.dlpi_name == nullptr) return nullptr;
    const char* name = std::strcmp(info.dlpi_name, kVdsoName) == 0 ? kVdsoPath : info.dlpi_name;
    return Keep(name, strnlen(name, kMostPathBytes));
  }

  void Add(const dl_phdr_info& info) {
    if (to.module_count_ == LoadedModules::kMost) return;
    LoadedModule module;
    module.load_bias = info.dlpi_addr;
    module.path = PathOf(info);
    if (module.path == nullptr) return;
    module.is_recorder = IsRecorder(module.path);
    for (size_t i = 0; i < info.dlpi_phnum; ++i) {
      const ElfW(Phdr)& segment = info.dlpi_phdr[i];
      if (segment.p_type == PT_GNU_EH_FRAME) module.header = StretchOf(info, segment);
      if (segment.p_type == PT_NOTE && module.build_id == nullptr) {
        ReadBuildId(reinterpret_cast<const char*>(info.dlpi_addr + segment.p_vaddr),
                    segment.p_filesz, module);
      }
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0) AddCode(info, segment);
    }
    for (size_t i = 0; i < info.dlpi_phnum; ++i) {
      if (Covers(info.dlpi_phdr[i], module.header.address)) {
        module.table_segment = StretchOf(info, info.dlpi_phdr[i]);
      }
    }
    to.modules_[to.module_count_++] = module;
  }

  // By address: modules come in the order in which they were loaded.
  void AddCode(const dl_phdr_info& info, const ElfW(Phdr) & segment) {
    if (to.code_count_ == LoadedModules::kMost) return;
    const uintptr_t begin = info.dlpi_addr + segment.p_vaddr;
    size_t place = to.code_count_++;
    for (; place > 0 && to.code_[place - 1].begin > begin; --place) {
      to.code_[place] = to.code_[place - 1];
    }
    to.code_[place] = {begin, begin + segment.p_memsz, static_cast<uint32_t>(to.module_count_)};
  }
};

bool LoadedModules::Map() {
  if (names_ != nullptr) return true;
  modules_ = static_cast<LoadedModule*>(sys::MapMemory(kMost * sizeof(LoadedModule)));
  code_ = static_cast<Code*>(sys::MapMemory(kMost * sizeof(Code)));
  names_ = static_cast<char*>(sys::MapMemory(kNameBytes));
  if (modules_ != nullptr && code_ != nullptr && names_ != nullptr) return true;
  names_ = nullptr;
  return false;
}

void LoadedModules::Refresh() {
  if (g_process.forked || !Map()) return;
  ModuleReader::Counts counts;
  dl_iterate_phdr(ModuleReader::TakeCounts, &counts);
  if (module_count_ != 0 && counts.loaded == loaded_ && counts.unloaded == unloaded_) return;
  if (counts.unloaded != unloaded_) ++generation_;
  loaded_ = counts.loaded;
  unloaded_ = counts.unloaded;
  module_count_ = code_count_ = name_bytes_ = 0;
  ModuleReader reader{*this};
  dl_iterate_phdr(ModuleReader::Take, &reader);
}

const LoadedModule* LoadedModules::Find(uintptr_t pc) const {
  size_t low = 0;
  size_t high = code_count_;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    if (code_[middle].begin <= pc) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low > 0 && pc < code_[low - 1].end ? &modules_[code_[low - 1].module] : nullptr;
}

}  // namespace batchlight::inject::backtrace
