#include "ingest/kineto/kineto_event.h"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "store/value_limits.h"

namespace batchlight {
namespace {

static_assert(static_cast<size_t>(KinetoArg::kCount) <= 64, "bits of present_");

constexpr std::string_view kArgKeys[] = {
#define ARG(Name, key) key,
#include "ingest/kineto/kineto_args.def"
#undef ARG
};

constexpr size_t HashKey(std::string_view key) {
  return (key.size() * 37 + static_cast<uint8_t>(key.front()) * 5 +
          static_cast<uint8_t>(key.back())) %
         128;
}

// Open addressing over the keys above: most arguments of an event are of no interest, and a single
// probe shows that.
constexpr auto kArgSlots = [] {
  std::array<int8_t, 128> slots{};
  slots.fill(-1);
  for (size_t i = 0; i < std::size(kArgKeys); ++i) {
    size_t slot = HashKey(kArgKeys[i]);
    while (slots[slot] >= 0) slot = (slot + 1) % slots.size();
    slots[slot] = static_cast<int8_t>(i);
  }
  return slots;
}();

int FindArg(std::string_view key) {
  if (key.empty()) return -1;
  for (size_t slot = HashKey(key); kArgSlots[slot] >= 0; slot = (slot + 1) % kArgSlots.size()) {
    if (kArgKeys[kArgSlots[slot]] == key) return kArgSlots[slot];
  }
  return -1;
}

std::string_view WithoutQuotes(std::string_view text) {
  return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : text;
}

// JSON allows forms such as 1.5e3, though no known writer uses them for times.
bool OddNumber(std::string_view text, int64_t* ns) {
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end) * 1000;
  if (end == copy.c_str() || *end != '\0' || !(std::abs(value) < 9e18)) return false;
  *ns = std::llround(value);
  return true;
}

}  // namespace

bool MicrosecondsToNs(std::string_view text, int64_t* ns) {
  text = WithoutQuotes(text);
  int64_t micros = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, micros);
  if (error != std::errc()) return false;
  int64_t fraction = 0;
  if (rest != end) {
    if (*rest != '.') return OddNumber(text, ns);
    int64_t unit = 100;
    for (const char* digit = rest + 1; digit != end; ++digit, unit /= 10) {
      if (*digit < '0' || *digit > '9') return OddNumber(text, ns);
      fraction += unit * (*digit - '0');
    }
  }
  const bool negative = text.front() == '-';
  return !__builtin_mul_overflow(micros, 1000, ns) &&
         !__builtin_add_overflow(*ns, negative ? -fraction : fraction, ns);
}

bool WholeNumber(std::string_view text, int64_t* value) {
  text = WithoutQuotes(text);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
  return error == std::errc() && end == text.data() + text.size();
}

int64_t KinetoEvent::IntArg(KinetoArg arg, int64_t otherwise) const {
  int64_t value = 0;
  return WholeNumber(Arg(arg), &value) ? value : otherwise;
}

bool KinetoEvent::ReadArgs(JsonCursor& cursor) {
  if (cursor.Peek() != '{') {  // null, say
    std::string_view ignored;
    return cursor.Value(&ignored);
  }
  cursor.Expect('{');
  bool first = true;
  std::string_view key;
  while (cursor.NextMember(first, &key)) {
    std::string_view value;
    if (!cursor.Value(&value)) return false;
    const int arg = FindArg(key);
    if (arg < 0) continue;
    present_ |= uint64_t{1} << arg;
    args_[static_cast<size_t>(arg)] = WithoutQuotes(value);
  }
  return cursor.ok();
}

bool KinetoEvent::Read(JsonCursor& cursor) {
  category = name = pid = tid = id = {};
  phase = 0;
  has_time = has_duration = has_wrong_time = false;
  present_ = 0;
  if (!cursor.Expect('{')) return false;
  bool first = true;
  std::string_view key;
  while (cursor.NextMember(first, &key)) {
    if (key == "args") {
      if (!ReadArgs(cursor)) return false;
      continue;
    }
    std::string_view value;
    if (!cursor.Value(&value)) return false;
    if (key == "ph") {
      value = WithoutQuotes(value);
      phase = value.empty() ? '\0' : value.front();
    } else if (key == "cat") {
      category = WithoutQuotes(value);
    } else if (key == "name") {
      name = WithoutQuotes(value);
    } else if (key == "pid") {
      pid = value;
    } else if (key == "tid") {
      tid = value;
    } else if (key == "id") {
      id = value;
    } else if (key == "ts") {
      has_time = MicrosecondsToNs(value, &start_ns) && IsPossibleTime(start_ns);
      has_wrong_time |= !has_time;
    } else if (key == "dur") {
      has_duration = MicrosecondsToNs(value, &duration_ns) && duration_ns >= 0;
      has_wrong_time |= !has_duration;
    }
  }
  return cursor.ok();
}

}  // namespace batchlight
