#include "inject/buffer/facts.h"

#include <atomic>
#include <cstring>

#include "inject/buffer/process_start.h"
#include "inject/rt/lock.h"

namespace batchlight::inject {
namespace {

// An entry of the log, followed by the record and then by each string, all padded to 8 bytes.
struct Entry {
  uint32_t entry_bytes;
  uint16_t record_bytes;
  uint8_t kind;
  uint8_t string_count;
  uint32_t group_bytes;      // in a group's first entry: room it takes in a chunk; else 0
  uint32_t group_log_bytes;  // in a group's first entry: its length in the log
};
struct LoggedString {
  uint32_t field_offset;
  uint32_t bytes;
};

constexpr size_t kLogBytes = 4u << 20;  // address space; memory only as it fills

Lock g_lock;
char* g_log = nullptr;
constinit std::atomic<size_t> g_log_end{0};
constinit std::atomic<size_t> g_written{0};           // of the log, into the capture below
constinit std::atomic<uint32_t> g_capture_plus_1{0};  // 0 = nothing written yet

Entry* EntryAt(size_t offset) { return reinterpret_cast<Entry*>(g_log + offset); }

size_t CutFactString(size_t bytes) {
  return bytes < format::kMaxStringBytes ? bytes : format::kMaxStringBytes;
}

void WriteEntry(ThreadStream& stream, const Entry* entry) {
  const char* record = reinterpret_cast<const char*>(entry + 1);
  char copy[256];
  std::memcpy(copy, record, entry->record_bytes);
  const char* at = record + entry->record_bytes;
  for (unsigned i = 0; i < entry->string_count; ++i) {
    const auto* string = reinterpret_cast<const LoggedString*>(at);
    const format::StringRef id =
        stream.Intern(reinterpret_cast<const char*>(string + 1), string->bytes);
    std::memcpy(copy + string->field_offset, &id, sizeof id);
    at += sizeof *string + Align8(string->bytes);
  }
  stream.WriteRaw(entry->kind, copy, entry->record_bytes);
}

// False if a new capture began meanwhile: then all facts must be written again, in that one.
bool WriteGroup(ThreadStream& stream, const Entry* first, uint32_t capture_index) {
  if (!stream.Ensure(first->group_bytes)) return true;  // lost, and counted
  if (stream.capture_index() != capture_index) return false;
  for (size_t done = 0; done < first->group_log_bytes;) {
    const auto* entry = reinterpret_cast<const Entry*>(reinterpret_cast<const char*>(first) + done);
    WriteEntry(stream, entry);
    done += entry->entry_bytes;
  }
  return true;
}

// Under the lock. False as above.
bool WriteUnwritten(ThreadStream& stream) {
  if (!stream.Ensure(sizeof(uint64_t))) return true;
  const uint32_t capture_index = stream.capture_index();
  if (g_capture_plus_1.load(std::memory_order_relaxed) != capture_index + 1) {
    if (!WriteProcessStart(stream, capture_index)) return false;
    g_capture_plus_1.store(capture_index + 1, std::memory_order_relaxed);
    g_written.store(0, std::memory_order_relaxed);
  }
  for (size_t at = g_written.load(std::memory_order_relaxed);
       at < g_log_end.load(std::memory_order_relaxed);) {
    const Entry* group = EntryAt(at);
    if (!WriteGroup(stream, group, capture_index)) return false;
    at += group->group_log_bytes;
    g_written.store(at, std::memory_order_relaxed);
  }
  return true;
}

void AppendString(char* to, const FactString& string) {
  const LoggedString head = {static_cast<uint32_t>(string.field_offset),
                             static_cast<uint32_t>(CutFactString(string.bytes))};
  std::memcpy(to, &head, sizeof head);
  std::memcpy(to + sizeof head, string.text, head.bytes);
}

}  // namespace

FactGroup::FactGroup(const Guard& guard) : guard_(guard) {
  locked_ = g_lock.Acquire();
  full_ = !locked_;
  if (full_) return;
  if (g_log == nullptr) g_log = static_cast<char*>(sys::MapMemory(kLogBytes));
  full_ = g_log == nullptr;
  start_ = end_ = g_log_end.load(std::memory_order_relaxed);
}

void FactGroup::AddRecord(uint8_t kind, const char* record, size_t record_bytes,
                          const FactString* strings, size_t string_count) {
  size_t log_bytes = sizeof(Entry) + record_bytes;
  size_t chunk_bytes = record_bytes;
  for (size_t i = 0; i < string_count; ++i) {
    log_bytes += sizeof(LoggedString) + Align8(CutFactString(strings[i].bytes));
    chunk_bytes += StringBytes(strings[i].bytes);
  }
  full_ = full_ || end_ + log_bytes > kLogBytes;
  if (full_) return;
  char* at = g_log + end_;
  const Entry entry = {static_cast<uint32_t>(log_bytes),
                       static_cast<uint16_t>(record_bytes),
                       kind,
                       static_cast<uint8_t>(string_count),
                       0,
                       0};
  std::memcpy(at, &entry, sizeof entry);
  std::memcpy(at + sizeof entry, record, record_bytes);
  char* to = at + sizeof entry + record_bytes;
  for (size_t i = 0; i < string_count; ++i) {
    AppendString(to, strings[i]);
    to += sizeof(LoggedString) + Align8(CutFactString(strings[i].bytes));
  }
  Entry* first = EntryAt(start_);
  first->group_bytes += static_cast<uint32_t>(chunk_bytes);
  first->group_log_bytes += static_cast<uint32_t>(log_bytes);
  end_ += log_bytes;
}

FactGroup::~FactGroup() {
  if (!locked_) return;
  if (full_) {
    AddCounter(format::Counter::kEventsDroppedBudget);
  } else {
    g_log_end.store(end_, std::memory_order_release);
  }
  g_lock.Release();
  if (!Collecting()) return;
  if (ThreadStream* stream = ThreadStream::Current(guard_)) stream->WriteFacts();
}

void Reason(const Guard& guard, const char* feature, const char* text) {
  static Lock lock;
  static uint64_t said[256];
  static size_t said_count = 0;
  const uint64_t hash =
      FoldProduct(HashBytes(feature, std::strlen(feature)), HashBytes(text, std::strlen(text)));
  {
    Locked locked(lock);
    if (!locked) return;
    for (size_t i = 0; i < said_count; ++i) {
      if (said[i] == hash) return;
    }
    if (said_count == sizeof said / sizeof said[0]) return;
    said[said_count++] = hash;
  }
  using format::ReasonRecord;
  AddFact(guard, ReasonRecord{},
          {{offsetof(ReasonRecord, feature), feature, std::strlen(feature)},
           {offsetof(ReasonRecord, text), text, std::strlen(text)}});
}

void Property(const Guard& guard, const char* key, const char* value) {
  using format::PropertyRecord;
  AddFact(guard, PropertyRecord{},
          {{offsetof(PropertyRecord, key), key, std::strlen(key)},
           {offsetof(PropertyRecord, value), value, std::strlen(value)}});
}

void RecordCost(const Guard& guard, const char* what, bool thread_pays, double ns) {
  using format::RecordCostRecord;
  AddFact(guard, RecordCostRecord{.thread = thread_pays, .ns = ns},
          {{offsetof(RecordCostRecord, what), what, std::strlen(what)}});
}

bool FactsPending(uint32_t capture_index) {
  return g_capture_plus_1.load(std::memory_order_relaxed) != capture_index + 1 ||
         g_written.load(std::memory_order_relaxed) != g_log_end.load(std::memory_order_relaxed);
}

void WriteUnwrittenFacts(ThreadStream& stream) {
  Locked locked(g_lock);
  if (!locked) return;  // they stay unwritten until somebody can
  while (!WriteUnwritten(stream)) {
  }
}

void ForgetFactsWritten() {
  g_capture_plus_1.store(0, std::memory_order_relaxed);
  g_written.store(0, std::memory_order_relaxed);
}

}  // namespace batchlight::inject
