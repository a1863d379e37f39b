// Facts: records that every capture of this process must contain, whenever they were made. The
// program names its categories and threads once, at its start; a capture may begin an hour later,
// may be the third, or be taken in a forked child. So such records are kept in memory and written
// into the first chunk of each capture, and at once if one is being taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "inject/buffer/thread_stream.h"
#include "inject/rt/guard.h"

namespace batchlight::inject {

// A string field of a fact: where it lies in the record and what goes there.
struct FactString {
  size_t field_offset;  // offsetof(SomeRecord, some_string)
  const char* text;
  size_t bytes;
};

// Records that stay together (a schema and its entries). Holds the facts' lock while it lives, so
// keep that short. Facts beyond the log's 4 MiB are dropped and counted.
class FactGroup {
 public:
  explicit FactGroup(const Guard& guard);
  ~FactGroup();
  FactGroup(const FactGroup&) = delete;
  FactGroup& operator=(const FactGroup&) = delete;

  template <class R>
  void Add(const R& record, std::initializer_list<FactString> strings) {
    static_assert(sizeof(R) <= 256);
    AddRecord(static_cast<uint8_t>(R::kKind), reinterpret_cast<const char*>(&record), sizeof(R),
              strings.begin(), strings.size());
  }

 private:
  void AddRecord(uint8_t kind, const char* record, size_t record_bytes, const FactString* strings,
                 size_t string_count);

  const Guard& guard_;
  size_t start_ = 0;  // of the group in the log
  size_t end_ = 0;
  bool locked_ = false;
  bool full_ = false;
};

// One record.
template <class R>
void AddFact(const Guard& guard, const R& record, std::initializer_list<FactString> strings) {
  FactGroup(guard).Add(record, strings);
}

// Says why a feature is off or incomplete: once per feature and text in a process.
void Reason(const Guard& guard, const char* feature, const char* text);

// A fact about the process for the reader, such as python.version.
void Property(const Guard& guard, const char* key, const char* value);

// What recording one `what` costs this process, for the estimate in reports. `thread_pays`: the
// program's own threads bear it.
void RecordCost(const Guard& guard, const char* what, bool thread_pays, double ns);

// Whether this capture of this process still lacks facts. Only ThreadStream calls the second.
bool FactsPending(uint32_t capture_index);
void WriteUnwrittenFacts(ThreadStream& stream);

// In a forked child: the facts stand, but nothing has been written yet.
void ForgetFactsWritten();

}  // namespace batchlight::inject
