// -t pstats: exact counts of Python's functions, as cProfile writes them: the dictionary
//   {(file, line, name): (primitive calls, calls, own s, total s, {caller: (calls, primitive,
//   ...)})}
// in Python's marshal format, version 2, which every Python 3 reads. Note the order of the first
// two numbers, which is another one for callers: cProfile's own.
#include <bit>
#include <cstring>

#include "analysis/python/function_counts.h"
#include "base/json_text.h"
#include "export/exporter.h"
#include "export/text_buffer.h"

namespace batchlight {
namespace {

class Marshal {
 public:
  explicit Marshal(TextBuffer& out) : out_(out) {}

  void BeginDict() { out_ << '{'; }
  void EndDict() { out_ << '0'; }
  void Tuple(uint32_t size) {
    out_ << '(';
    Word(size);
  }
  void Text(std::string_view text) {
    out_ << 'u';
    Word(static_cast<uint32_t>(text.size()));
    out_ << text;
  }
  void Number(uint64_t value) {
    if (value <= INT32_MAX) {
      out_ << 'i';
      Word(static_cast<uint32_t>(value));
      return;
    }
    // A long: digits of 15 bits.
    std::string digits;
    uint32_t count = 0;
    for (; value > 0; value >>= 15, ++count) {
      digits += static_cast<char>(value & 0xff);
      digits += static_cast<char>(value >> 8 & 0x7f);
    }
    out_ << 'l';
    Word(count);
    out_ << digits;
  }
  void Seconds(int64_t ns) {
    const auto bits = std::bit_cast<uint64_t>(static_cast<double>(ns) / 1e9);
    out_ << 'g';
    Word(static_cast<uint32_t>(bits));
    Word(static_cast<uint32_t>(bits >> 32));
  }

 private:
  void Word(uint32_t value) {
    char bytes[4];
    std::memcpy(bytes, &value, sizeof bytes);
    out_ << std::string_view(bytes, sizeof bytes);
  }

  TextBuffer& out_;
};

void WriteFunction(Marshal& out, const Store& store, const PythonFunctionCounts& function) {
  out.Tuple(3);
  const std::string_view file = store.Text(function.file);
  out.Text(ValidUtf8(file));
  out.Number(function.first_line);
  out.Text(ValidUtf8(BareName(file, store.Text(function.name))));
}

}  // namespace

Result<uint64_t> ExportPstats(const Store& store, const ExportOptions& options) {
  const std::vector<PythonFunctionCounts> functions = CountPythonFunctions(store, true);
  if (functions.empty()) {
    return InputError("no Python functions were counted: profile --python-trace=functions");
  }
  ASSIGN_OR_RETURN(AtomicFileWriter file, OpenOutput(options));
  TextBuffer buffer(file);
  Marshal out(buffer);
  out.BeginDict();
  for (const PythonFunctionCounts& function : functions) {
    WriteFunction(out, store, function);
    out.Tuple(5);
    out.Number(function.counts.primitive_calls);
    out.Number(function.counts.calls);
    out.Seconds(function.counts.self_ns);
    out.Seconds(function.counts.total_ns);
    out.BeginDict();
    for (const PythonCallerShare& share : function.callers) {
      WriteFunction(out, store, functions[share.caller]);
      out.Tuple(4);
      out.Number(share.counts.calls);
      out.Number(share.counts.primitive_calls);
      out.Seconds(share.counts.self_ns);
      out.Seconds(share.counts.total_ns);
    }
    out.EndDict();
    RETURN_IF_ERROR(buffer.FlushIfLarge());
  }
  out.EndDict();
  RETURN_IF_ERROR(buffer.Finish());
  return functions.size();
}

}  // namespace batchlight
