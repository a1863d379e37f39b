#include "ingest/kineto/kineto_reader.h"

#include <algorithm>

namespace batchlight {
namespace {

constexpr size_t kWindowBytes = 4 << 20;
// One event (or one other member of the root) larger than this is not a trace: a quote is missing.
constexpr size_t kMaxEventBytes = 16 << 20;
// Text may look like the begin of an event again and again, and none of them end: after damage,
// what is parsed in vain is limited to this and the file once more.
constexpr uint64_t kMostParsedInVain = 256 << 20;
// What follows the events: names, units, the clock's base.
constexpr size_t kTailBytes = 64 << 10;

}  // namespace

// Makes more of the file visible behind Rest(). False at the end of the file.
bool KinetoReader::Refill() {
  if (at_end_) return false;
  report_.memory = memory_.Check();
  if (!report_.memory.ok()) {
    at_end_ = true;
    return false;
  }
  window_.erase(0, at_);
  window_place_ += at_;
  at_ = 0;
  const size_t kept = window_.size();
  const size_t wanted = std::max(kWindowBytes, kept);
  window_.resize(kept + wanted);
  size_t filled = kept;
  while (filled < window_.size()) {
    Result<size_t> count = source_.Read(window_.data() + filled, window_.size() - filled);
    if (!count.ok()) Cut(count.status().message(), window_place_ + filled);
    if (!count.ok() || count.value() == 0) {
      at_end_ = true;
      break;
    }
    filled += count.value();
  }
  window_.resize(filled);
  return filled > kept;
}

void KinetoReader::Cut(std::string why, uint64_t place) {
  if (!report_.cut.empty()) return;
  report_.cut = std::move(why);
  report_.cut_place = place;
}

bool KinetoReader::IsTired() const {
  return parsed_in_vain_bytes_ > kMostParsedInVain + window_place_;
}

// Runs parse(cursor) on the rest of the window, reading more of the file while that is too short.
// Consumes the bytes that were parsed.
template <typename Parse>
KinetoReader::Parsed KinetoReader::Retry(Parse&& parse) {
  while (true) {
    JsonCursor cursor(Rest());
    if (parse(cursor)) {
      at_ += cursor.offset();
      return Parsed::kWhole;
    }
    parsed_in_vain_bytes_ += cursor.offset();
    if (cursor.state() != JsonCursor::State::kEnded) return Parsed::kMalformed;
    if (Rest().size() >= kMaxEventBytes) return Parsed::kMalformed;
    if (!Refill()) return Parsed::kEnded;
  }
}

Result<KinetoReport> KinetoReader::Read() {
  Status root = ReadRoot();
  if (!report_.memory.ok()) return report_;
  RETURN_IF_ERROR(std::move(root));
  if (report_.is_array) {
    report_.has_events = true;
    ReadEvents();
  } else {
    ReadMembers();
  }
  return report_;
}

Status KinetoReader::ReadRoot() {
  Refill();
  if (Rest().starts_with("\xef\xbb\xbf")) at_ += 3;
  char root = 0;
  const Parsed found = Retry([&](JsonCursor& cursor) {
    root = cursor.Peek();
    return root == '[' || root == '{' ? cursor.Expect(root) : false;
  });
  if (found != Parsed::kWhole && !report_.cut.empty()) return InputError(report_.cut);
  if (found != Parsed::kWhole) return InputError("not a JSON object or array");
  report_.is_array = root == '[';
  return {};
}

void KinetoReader::ReadMembers() {
  bool first = true;
  while (true) {
    std::string_view key;
    bool done = false;
    bool is_events = false;
    std::string_view value;
    const Parsed read = Retry([&](JsonCursor& cursor) {
      bool still_first = first;
      done = !cursor.NextMember(still_first, &key) && cursor.ok();
      if (done) return true;
      if (!cursor.ok()) return false;
      is_events = key == "traceEvents" && cursor.Peek() == '[';
      return is_events ? cursor.Expect('[') : cursor.Value(&value);
    });
    if (read == Parsed::kEnded) {
      return Cut("the file ends in the middle", window_place_ + window_.size());
    }
    if (read == Parsed::kMalformed && Rest().size() >= kMaxEventBytes) {
      const uint64_t place = Place();
      if (!SkipLongMember(first)) return Cut("a member longer than 16 MiB does not end", place);
      first = false;
      continue;
    }
    if (read == Parsed::kMalformed) return Cut("what follows is not JSON", Place());
    if (done) return;
    first = false;
    if (is_events) {
      report_.has_events = true;
      ReadEvents();
      if (!report_.cut.empty()) return;
    } else {
      on_fact_(key, value);
    }
  }
}

// Skips a member that is too long to be one we want, without keeping it: other tools add stacks and
// samples beside the events. False if its value has no end.
bool KinetoReader::SkipLongMember(bool first) {
  JsonCursor cursor(Rest());
  std::string_view key;
  if (!cursor.NextMember(first, &key) || cursor.Peek() == '\0') return false;
  at_ += cursor.offset();
  int depth = 0;
  bool quoted = false;
  bool escaped = false;
  do {
    for (; at_ < window_.size(); ++at_) {
      const char c = window_[at_];
      if (escaped) {
        escaped = false;
        continue;
      }
      if (c == '"') quoted = !quoted;
      escaped = quoted && c == '\\';
      if (!quoted && (c == '{' || c == '[')) ++depth;
      if (!quoted && (c == '}' || c == ']')) --depth;
      if (quoted || depth > 0 || (c != '"' && c != '}' && c != ']')) continue;
      ++at_;
      return true;
    }
  } while (Refill());
  return false;
}

// After '[', up to ']'.
void KinetoReader::ReadEvents() {
  bool first = true;
  while (true) {
    bool done = false;
    event_.place = Place();
    const Parsed read = Retry([&](JsonCursor& cursor) {
      bool still_first = first;
      done = !cursor.NextElement(still_first) && cursor.ok();
      if (done || !cursor.ok()) return done;
      cursor.Peek();
      event_.place = Place() + cursor.offset();
      return event_.Read(cursor);
    });
    if (done) return;
    first = false;
    if (read != Parsed::kWhole && !SkipMalformed(read)) return;
    ++report_.events;
    on_event_(event_);
  }
}

// An event that cannot be read costs only itself: reads the next one that can be read. False if
// there is none: the events are over, or the file was cut.
bool KinetoReader::SkipMalformed(Parsed why) {
  const uint64_t place = event_.place;
  const bool found = FindEvent();
  const bool cut = why == Parsed::kEnded && !found;
  if (!cut && report_.malformed++ == 0) report_.first_malformed = place;
  if (found) return true;
  if (!cut && FindEndOfEvents()) return false;
  Cut("the file ends in the middle of an event", window_place_ + window_.size());
  return false;
}

// After an event that failed, finds the next text past its brace that looks like an event and can
// be read as one.
bool KinetoReader::FindEvent() {
  size_t brace = Rest().find('{');
  if (brace == std::string_view::npos) return false;
  at_ += brace + 1;
  while (!IsTired()) {
    const std::string_view rest = Rest();
    brace = rest.find('{');
    const size_t quote =
        brace == rest.npos ? rest.npos : rest.find_first_not_of(" \t\r\n", brace + 1);
    if (quote == rest.npos || quote + 6 > rest.size()) {
      if (brace == rest.npos && rest.size() > kTailBytes) at_ = window_.size() - kTailBytes;
      if (Refill()) continue;
      return false;
    }
    at_ += brace;
    const std::string_view key = rest.substr(quote, 6);
    if (key.starts_with("\"ph\"") || key.starts_with("\"name\"")) {
      event_.place = Place();
      const Parsed read = Retry([&](JsonCursor& cursor) { return event_.Read(cursor); });
      if (read == Parsed::kWhole && event_.phase != 0) return true;
      if (read == Parsed::kWhole) continue;
    }
    ++at_;
  }
  Cut("too much of it is damaged", Place());
  return false;
}

// Finds, near the end of the file, the bracket after which the rest of the root is complete.
bool KinetoReader::FindEndOfEvents() {
  const std::string_view rest = Rest();
  for (size_t end = rest.find(']'); end != rest.npos && !IsTired(); end = rest.find(']', end + 1)) {
    JsonCursor cursor(rest.substr(end + 1));
    bool first = false;
    std::string_view key;
    std::string_view value;
    while (!report_.is_array && cursor.NextMember(first, &key) && cursor.Value(&value)) {
    }
    if (!cursor.ok() || !cursor.AtEnd()) {
      parsed_in_vain_bytes_ += cursor.offset();
      continue;
    }
    at_ += end + 1;
    return true;
  }
  return false;
}

}  // namespace batchlight
