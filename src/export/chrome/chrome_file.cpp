#include "export/chrome/chrome_file.h"

#include "analysis/numbers/closed_end.h"
#include "base/json_text.h"

namespace batchlight {
namespace {

constexpr int64_t kBaseGridNs = int64_t{7889238} * 1000000000;  // Kineto's three months

}  // namespace

ChromeFile::ChromeFile(const Store& store, const ExportOptions& options, TextBuffer& out)
    : store_(store), out_(out), escaped_(store.strings.size()) {
  const int64_t begin_ns = store.session_start_utc_ns;
  base_ns_ = begin_ns - begin_ns % kBaseGridNs;
  offset_ns_ = AddTimes(begin_ns - base_ns_, options.selection.shift_ns());
}

const std::string& ChromeFile::Escaped(StringId id) {
  static const std::string kNone;
  if (id.IsNone()) return kNone;
  std::string& text = escaped_[id.row()];
  if (text.empty()) AppendJsonEscaped(store_.Text(id), text);
  return text;
}

void ChromeFile::Head(char phase, std::string_view name, int64_t pid, int64_t tid, int64_t at_ns) {
  out_ << (first_ ? "\n  {\"ph\": \"" : ",\n  {\"ph\": \"") << phase << "\", \"name\": \"" << name
       << "\", \"pid\": " << pid << ", \"tid\": " << tid << ", \"ts\": ";
  out_.Microseconds(AddTimes(at_ns, offset_ns_));
  first_ = false;
}

void ChromeFile::Begin(std::string_view category, std::string_view name, int64_t pid, int64_t tid,
                       int64_t start_ns, int64_t end_ns) {
  ++events_;
  Head('X', name, pid, tid, start_ns);
  out_ << ", \"cat\": \"" << category << "\", \"dur\": ";
  out_.Microseconds(AddTimes(ClosedEnd(store_, start_ns, end_ns), -start_ns));
  out_ << ", \"args\": {";
  first_arg_ = true;
}

TextBuffer& ChromeFile::Arg(std::string_view key) {
  out_ << (first_arg_ ? "\"" : ", \"") << key << "\": ";
  first_arg_ = false;
  return out_;
}

void ChromeFile::Members(std::string_view json) {
  if (json.empty()) return;
  if (!first_arg_) out_ << ", ";
  out_ << json;
  first_arg_ = false;
}

Status ChromeFile::End() {
  out_ << "}}";
  return out_.FlushIfLarge();
}

void ChromeFile::Instant(std::string_view category, std::string_view name, int64_t pid, int64_t tid,
                         int64_t at_ns, std::string_view members) {
  ++events_;
  Head('i', name, pid, tid, at_ns);
  out_ << ", \"cat\": \"" << category << "\", \"s\": \"t\"";
  if (!members.empty()) out_ << ", \"args\": {" << members << '}';
  out_ << '}';
}

void ChromeFile::Async(char phase, uint64_t id, std::string_view name, int64_t pid, int64_t tid,
                       int64_t at_ns, std::string_view members) {
  if (phase == 'b') ++events_;
  Head(phase, name, pid, tid, at_ns);
  out_ << ", \"cat\": \"nvtx_range\", \"id\": " << id;
  if (!members.empty()) out_ << ", \"args\": {" << members << '}';
  out_ << '}';
}

void ChromeFile::Arrow(char phase, std::string_view category, uint64_t id, int64_t pid, int64_t tid,
                       int64_t at_ns) {
  Head(phase, category, pid, tid, at_ns);
  out_ << ", \"cat\": \"" << category << "\", \"id\": " << id
       << (phase == 'f' ? ", \"bp\": \"e\"}" : "}");
}

void ChromeFile::Counter(std::string_view name, int64_t pid, std::string_view series, int64_t value,
                         int64_t at_ns) {
  ++events_;
  Head('C', name, pid, 0, at_ns);
  out_ << ", \"args\": {\"" << series << "\": " << value << "}}";
}

void ChromeFile::Metadata(std::string_view what, int64_t pid, int64_t tid, std::string_view key,
                          std::string_view escaped) {
  out_ << (first_ ? "\n  {\"ph\": \"M" : ",\n  {\"ph\": \"M") << "\", \"name\": \"" << what
       << "\", \"pid\": " << pid << ", \"tid\": " << tid << ", \"ts\": 0, \"args\": {\"" << key
       << "\": \"" << escaped << "\"}}";
  first_ = false;
}

}  // namespace batchlight
