#include "export/text/sampled_stacks.h"

#include <map>
#include <string>
#include <vector>

#include "export/text/named_stacks.h"
#include "export/text/thread_label.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

// Frames of all threads are numbered by name.
class FrameNumbers {
 public:
  size_t Of(std::string name) {
    const auto [place, added] = numbers_.try_emplace(std::move(name), names_.size());
    if (added) names_.push_back(&place->first);
    return place->second;
  }
  void Print(TextBuffer& out) const {
    out << "\"shared\":{\"frames\":[";
    for (size_t i = 0; i < names_.size(); ++i) {
      out << (i > 0 ? ",\n{\"name\":\"" : "\n{\"name\":\"");
      out.Escaped(*names_[i]);
      out << "\"}";
    }
    out << "\n]}";
  }

 private:
  std::map<std::string, size_t> numbers_;
  std::vector<const std::string*> names_;
};

// Stacks [begin, end) are those of one thread.
void PrintThread(const Store& store, const NamedStacks& stacks, size_t begin, size_t end,
                 FrameNumbers& numbers, std::string_view unit, TextBuffer& out) {
  int64_t all = 0;
  for (size_t i = begin; i < end; ++i) all += stacks[i].value;
  out << "{\"type\":\"sampled\",\"name\":\"";
  out.Escaped(ThreadLabel(store, stacks[begin].thread));
  out << "\",\"unit\":\"" << unit << "\",\"startValue\":0,\"endValue\":" << all
      << ",\n\"samples\":[";
  for (size_t i = begin; i < end; ++i) {
    out << (i > begin ? ",\n[" : "\n[");
    bool first = true;
    for (const NamedFrame& frame : stacks[i].frames) {
      out << (first ? "" : ",") << numbers.Of(frame.name);
      first = false;
    }
    out << ']';
  }
  out << "],\n\"weights\":[";
  for (size_t i = begin; i < end; ++i) out << (i > begin ? "," : "") << stacks[i].value;
  out << "]}";
}

}  // namespace

Result<uint64_t> ExportSampledFolded(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const NamedStacks stacks, StacksOf(store, options));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  for (const NamedStack& stack : stacks) {
    out << FoldedFrame(ThreadLabel(store, stack.thread));
    for (const NamedFrame& frame : stack.frames) {
      out << ';' << FoldedFrame(frame.name);
    }
    out << ' ' << stack.value << '\n';
    RETURN_IF_ERROR(out.FlushIfLarge());
  }
  RETURN_IF_ERROR(out.Finish());
  return stacks.size();
}

Result<uint64_t> ExportSampledSpeedscope(const Store& store, const ExportOptions& options) {
  ASSIGN_OR_RETURN(const NamedStacks stacks, StacksOf(store, options));
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer out(file);
  FrameNumbers numbers;
  out << "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
         "\"exporter\":\"batchlight\",\n\"profiles\":[\n";
  for (size_t begin = 0; begin < stacks.size();) {
    size_t end = begin;
    while (end < stacks.size() && stacks[end].thread == stacks[begin].thread) ++end;
    if (begin > 0) out << ",\n";
    PrintThread(store, stacks, begin, end, numbers,
                IsOfBytes(options.stacks) ? "bytes" : "nanoseconds", out);
    RETURN_IF_ERROR(out.FlushIfLarge());
    begin = end;
  }
  out << "\n],\n";
  numbers.Print(out);
  out << "}\n";
  RETURN_IF_ERROR(out.Finish());
  return stacks.size();
}

}  // namespace batchlight
