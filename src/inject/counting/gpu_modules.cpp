#include "inject/counting/gpu_modules.h"

#include <elf.h>

#include <atomic>
#include <cstring>

#include "inject/buffer/thread_stream.h"
#include "inject/rt/sys.h"

namespace batchlight::inject::cupti {
namespace {

// PyTorch's own kernels come in modules of up to some MB, cuBLAS's of more, all without lines.
constexpr size_t kMostBytes = 1u << 20;
constexpr size_t kMostBytesWithLines = 16u << 20;
constexpr size_t kMostBytesOfAll = 64u << 20;
constexpr size_t kMostModules = 2048;
constexpr size_t kPieceBytes = 32u << 10;

// The code lies behind it, in the same mapping.
struct Module {
  size_t bytes;
  bool has_crc;
  bool is_written;
  uint64_t crc;
  char code[];
};

// A place is taken by whoever counts to it, and never given back: readers see whole modules only.
std::atomic<Module*>* g_modules = nullptr;
std::atomic<size_t> g_count{0};
std::atomic<size_t> g_bytes{0};

bool HasLines(const char* code, size_t bytes) {
  Elf64_Ehdr head;
  if (bytes < sizeof head) return false;
  std::memcpy(&head, code, sizeof head);
  Elf64_Shdr names;
  const uint64_t place = head.e_shoff + uint64_t{head.e_shstrndx} * sizeof names;
  if (place > bytes || bytes - place < sizeof names) return false;
  std::memcpy(&names, code + place, sizeof names);
  if (names.sh_offset > bytes || names.sh_size > bytes - names.sh_offset) return false;
  constexpr char kLines[] = "\0.debug_line";  // with the NULs around it
  const char* at = code + names.sh_offset;
  const char* const end = at + names.sh_size;
  for (; end - at >= static_cast<ptrdiff_t>(sizeof kLines); ++at) {
    at = static_cast<const char*>(std::memchr(at, 0, static_cast<size_t>(end - at)));
    if (at == nullptr || end - at < static_cast<ptrdiff_t>(sizeof kLines)) return false;
    if (std::memcmp(at, kLines, sizeof kLines) == 0) return true;
  }
  return false;
}

Module* FindModule(const Library& library, uint64_t crc) {
  const size_t count = g_count.load(std::memory_order_acquire);
  for (size_t i = 0; i < count && i < kMostModules; ++i) {
    Module* const module = g_modules[i].load(std::memory_order_acquire);
    if (module == nullptr) continue;
    if (!module->has_crc) {
      CubinCrcParams params{};
      params.size = offsetof(CubinCrcParams, crc) + sizeof params.crc;
      params.cubin_bytes = module->bytes;
      params.cubin = module->code;
      if (library.cuptiGetCubinCrc(&params) == kSuccess) module->crc = params.crc;
      module->has_crc = true;
    }
    if (module->crc == crc) return module;
  }
  return nullptr;
}

}  // namespace

bool PrepareModules() {
  g_modules = static_cast<std::atomic<Module*>*>(
      sys::MapMemory(kMostModules * sizeof(std::atomic<Module*>)));
  return g_modules != nullptr;
}

void KeepModule(const ModuleData& module) {
  if (module.cubin == nullptr || module.cubin_bytes == 0) return;
  const size_t bytes = module.cubin_bytes;
  if (bytes > kMostBytesWithLines || (bytes > kMostBytes && !HasLines(module.cubin, bytes))) return;
  if (g_bytes.fetch_add(bytes) + bytes > kMostBytesOfAll) {
    g_bytes.fetch_sub(bytes);
    return;
  }
  const size_t place = g_count.load() < kMostModules ? g_count.fetch_add(1) : kMostModules;
  if (place >= kMostModules) return;
  auto* const kept = static_cast<Module*>(sys::MapMemory(sizeof(Module) + bytes));
  if (kept == nullptr) return;
  kept->bytes = bytes;
  std::memcpy(kept->code, module.cubin, bytes);
  g_modules[place].store(kept, std::memory_order_release);
}

void WriteSampledModule(const Library& library, uint64_t crc) {
  Module* const module = FindModule(library, crc);
  if (module == nullptr || module->is_written) return;
  module->is_written = true;
  for (size_t at = 0; at < module->bytes; at += kPieceBytes) {
    const size_t bytes = module->bytes - at < kPieceBytes ? module->bytes - at : kPieceBytes;
    Guard guard;
    ThreadStream* const stream = guard ? ThreadStream::Current(guard) : nullptr;
    if (stream == nullptr ||
        !stream->Ensure(BytesRecordBytes(sizeof(format::GpuCodeRecord), bytes))) {
      return;
    }
    stream->WriteWithBytes(
        format::GpuCodeRecord{.cubin = crc, .total_bytes = module->bytes, .offset = at},
        module->code + at, bytes);
  }
}

}  // namespace batchlight::inject::cupti
