// One element of a Kineto trace's traceEvents.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "ingest/kineto/json_cursor.h"

namespace batchlight {

enum class KinetoArg : uint8_t {
#define ARG(Name, key) k##Name,
#include "ingest/kineto/kineto_args.def"
#undef ARG
  kCount
};

// All views point into the text that was read. Names are raw: see UnescapeJson.
struct KinetoEvent {
  char phase = 0;  // "ph"
  std::string_view category;
  std::string_view name;
  std::string_view pid;  // number, or string with quotes
  std::string_view tid;
  std::string_view id;  // of an asynchronous event
  bool has_time = false;
  bool has_duration = false;
  bool has_wrong_time = false;  // time or duration: not a number, negative or out of range
  uint64_t place = 0;           // its first byte in the trace
  int64_t start_ns = 0;         // as written: since the trace's base
  int64_t duration_ns = 0;

  // The raw value of an argument, a string without its quotes; "" if it is missing.
  std::string_view Arg(KinetoArg arg) const {
    const auto index = static_cast<size_t>(arg);
    return (present_ >> index & 1) != 0 ? args_[index] : std::string_view();
  }
  // The argument as a number; `otherwise` if it is missing or not a whole number.
  int64_t IntArg(KinetoArg arg, int64_t otherwise) const;

  // Reads one event. False if the cursor failed: more bytes are needed, or this is not JSON.
  bool Read(JsonCursor& cursor);

 private:
  bool ReadArgs(JsonCursor& cursor);

  uint64_t present_ = 0;
  std::array<std::string_view, static_cast<size_t>(KinetoArg::kCount)> args_;
};

// "12.345" (µs) to 12345 (ns), exactly. False if it is not a number or beyond int64.
bool MicrosecondsToNs(std::string_view text, int64_t* ns);

// A whole number, in quotes or not.
bool WholeNumber(std::string_view text, int64_t* value);
// Without the quotes of a string, as it stands in the file.
inline std::string_view Unquoted(std::string_view raw) {
  return raw.size() >= 2 && raw.front() == '"' ? raw.substr(1, raw.size() - 2) : raw;
}

}  // namespace batchlight
