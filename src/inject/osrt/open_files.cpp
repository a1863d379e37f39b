#include "inject/osrt/open_files.h"

#include <atomic>

#include "inject/rt/text.h"

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18  // Linux 4.14
#endif

namespace batchlight::inject::osrt {
namespace {

using std::memory_order_relaxed;

struct Sums {
  std::atomic<uint64_t> calls;
  std::atomic<uint64_t> bytes;
  std::atomic<uint64_t> ticks;
};

enum NameState : uint32_t { kUnnamed, kNaming, kNamed };

struct OpenFile {
  Sums sums[2];  // by IoDirection
  std::atomic<uint64_t> first_ticks;
  std::atomic<uint64_t> slowest_ticks;
  std::atomic<uint32_t> name_state;
  uint32_t name_bytes;
  char padding[128 - 72];
};
static_assert(sizeof(OpenFile) == 128);

constexpr int kFiles = 1024;
constexpr size_t kNameBytes = 1024;
constexpr size_t kBudget = kFiles * sizeof(OpenFile);

// Pages that no file needs are never touched.
struct Table {
  OpenFile files[kFiles];
  char names[kFiles][kNameBytes];
};
constinit std::atomic<Table*> g_table{nullptr};
bool g_wiped_on_fork = false;

OpenFile* Find(int descriptor) {
  Table* table = g_table.load(std::memory_order_acquire);
  if (table == nullptr || descriptor < 0 || descriptor >= kFiles) return nullptr;
  return &table->files[descriptor];
}

void Raise(std::atomic<uint64_t>& most, uint64_t value) {
  uint64_t seen = most.load(memory_order_relaxed);
  while (seen < value && !most.compare_exchange_weak(seen, value, memory_order_relaxed)) {
  }
}

uint32_t ReadName(int descriptor, char* to) {
  char path[40];
  Text(path, sizeof path).Add("/proc/self/fd/").Add(static_cast<uint64_t>(descriptor));
  const long bytes = sys::Call(SYS_readlinkat, AT_FDCWD, path, to, kNameBytes);
  return bytes > 0 ? static_cast<uint32_t>(bytes) : 0;
}

uint64_t Take(std::atomic<uint64_t>& sum) { return sum.exchange(0, memory_order_relaxed); }

void Write(ThreadStream& stream, int descriptor, OpenFile& file, const FileName& name) {
  Sums& read = file.sums[static_cast<size_t>(IoDirection::kRead)];
  Sums& written = file.sums[static_cast<size_t>(IoDirection::kWrite)];
  const uint64_t first = Take(file.first_ticks);
  const uint64_t now = stream.now();
  format::OsFileRecord record = {};
  record.file = stream.Intern(name.text, name.bytes);
  record.descriptor = static_cast<uint32_t>(descriptor);
  record.open_ticks = first != 0 && first < now ? now - first : 0;
  record.reads = Take(read.calls);
  record.bytes_read = Take(read.bytes);
  record.read_ticks = Take(read.ticks);
  record.writes = Take(written.calls);
  record.bytes_written = Take(written.bytes);
  record.write_ticks = Take(written.ticks);
  record.slowest_ticks = Take(file.slowest_ticks);
  stream.Write(record);
}

bool WasUsed(const OpenFile& file) { return file.first_ticks.load(memory_order_relaxed) != 0; }

}  // namespace

void PrepareOpenFiles() {
  if (g_table.load(memory_order_relaxed) != nullptr || !TakeBudget(kBudget)) return;
  auto* table = static_cast<Table*>(sys::MapMemory(sizeof(Table)));
  if (table == nullptr) {
    ReturnBudget(kBudget);
    return;
  }
  g_wiped_on_fork = sys::Advise(table, sizeof(Table), MADV_WIPEONFORK);
  g_table.store(table, std::memory_order_release);
}

void AddIo(int descriptor, IoDirection direction, uint64_t bytes, uint64_t begin, uint64_t ticks) {
  OpenFile* file = Find(descriptor);
  if (file == nullptr) return;
  Sums& sums = file->sums[static_cast<size_t>(direction)];
  sums.calls.fetch_add(1, memory_order_relaxed);
  sums.bytes.fetch_add(bytes, memory_order_relaxed);
  sums.ticks.fetch_add(ticks, memory_order_relaxed);
  if (__builtin_expect(!WasUsed(*file), 0)) file->first_ticks.store(begin, memory_order_relaxed);
  if (file->slowest_ticks.load(memory_order_relaxed) < ticks) Raise(file->slowest_ticks, ticks);
}

FileName NameOf(const Guard&, int descriptor) {
  OpenFile* file = Find(descriptor);
  if (file == nullptr) return {};
  char* text = g_table.load(memory_order_relaxed)->names[descriptor];
  uint32_t state = file->name_state.load(std::memory_order_acquire);
  if (state == kUnnamed &&
      file->name_state.compare_exchange_strong(state, kNaming, std::memory_order_acquire)) {
    file->name_bytes = ReadName(descriptor, text);
    file->name_state.store(kNamed, std::memory_order_release);
    state = kNamed;
  }
  return state == kNamed ? FileName{text, file->name_bytes} : FileName{};
}

namespace {

void Forget(const Guard& guard, int descriptor, OpenFile* file, const FileName& name) {
  if (WasUsed(*file)) {
    ThreadStream* stream = ThreadStream::Current(guard);
    if (stream != nullptr &&
        stream->Ensure(sizeof(format::OsFileRecord) + StringBytes(name.bytes))) {
      Write(*stream, descriptor, *file, name);
    }
  }
  // Somebody who is just asking for the name will have it of whatever the number stands for then.
  uint32_t named = kNamed;
  file->name_state.compare_exchange_strong(named, kUnnamed, memory_order_relaxed);
}

}  // namespace

void CloseFile(const Guard& guard, int descriptor) {
  OpenFile* file = Find(descriptor);
  if (file == nullptr) return;
  Forget(guard, descriptor, file, WasUsed(*file) ? NameOf(guard, descriptor) : FileName());
}

void ReopenFile(const Guard& guard, int descriptor) {
  OpenFile* file = Find(descriptor);
  if (file == nullptr) return;
  const bool is_named = file->name_state.load(std::memory_order_acquire) == kNamed;
  Forget(guard, descriptor, file, is_named ? NameOf(guard, descriptor) : FileName());
}

void CloseAllFiles(const Guard& guard) {
  Table* table = g_table.load(std::memory_order_acquire);
  if (table == nullptr) return;
  for (int descriptor = 0; descriptor < kFiles; ++descriptor) {
    if (WasUsed(table->files[descriptor])) CloseFile(guard, descriptor);
  }
}

void ForgetOpenFiles() {
  Table* table = g_table.load(std::memory_order_acquire);
  if (table == nullptr || g_wiped_on_fork) return;
  for (OpenFile& file : table->files) {
    for (Sums& sums : file.sums) {
      Take(sums.calls);
      Take(sums.bytes);
      Take(sums.ticks);
    }
    Take(file.first_ticks);
    Take(file.slowest_ticks);
    file.name_state.store(kUnnamed, memory_order_relaxed);
  }
}

}  // namespace batchlight::inject::osrt
