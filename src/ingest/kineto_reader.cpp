#include "ingest/kineto_reader.h"

#include <algorithm>

namespace batchlight {
namespace {

constexpr size_t kWindowBytes = 4 << 20;
// One event (or one other member of the root) larger than this is not a trace.
constexpr size_t kMaxWindowBytes = size_t{1} << 30;

}  // namespace

// Makes more of the file visible behind Rest(). False at the end of the file.
bool KinetoReader::Refill() {
  if (at_end_) return false;
  window_.erase(0, at_);
  at_ = 0;
  const size_t kept = window_.size();
  if (kept >= kMaxWindowBytes) return false;
  const size_t wanted = std::max(kWindowBytes, kept);
  window_.resize(kept + wanted);
  size_t filled = kept;
  while (filled < window_.size()) {
    Result<size_t> count = source_.Read(window_.data() + filled, window_.size() - filled);
    if (!count.ok()) Cut(count.status().message());
    if (!count.ok() || count.value() == 0) {
      at_end_ = true;
      break;
    }
    filled += count.value();
  }
  window_.resize(filled);
  return filled > kept;
}

void KinetoReader::Cut(std::string why) {
  if (report_.cut.empty()) report_.cut = std::move(why);
}

// Runs parse(cursor) on the rest of the window, with more of the file while that is too short.
// True if it succeeded: then its bytes are taken.
template <typename Parse>
bool KinetoReader::Retry(Parse&& parse) {
  while (true) {
    JsonCursor cursor(Rest());
    if (parse(cursor)) {
      at_ += cursor.offset();
      return true;
    }
    if (cursor.state() != JsonCursor::State::kEnded || !Refill()) return false;
  }
}

Result<KinetoReport> KinetoReader::Read() {
  RETURN_IF_ERROR(ReadRoot());
  if (report_.is_array) {
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
  const bool found = Retry([&](JsonCursor& cursor) {
    root = cursor.Peek();
    return root == '[' || root == '{' ? cursor.Expect(root) : false;
  });
  if (!found && !report_.cut.empty()) return InputError(report_.cut);
  if (!found) return InputError("not a JSON object or array");
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
    const bool read = Retry([&](JsonCursor& cursor) {
      bool still_first = first;
      done = !cursor.NextMember(still_first, &key) && cursor.ok();
      if (done) return true;
      if (!cursor.ok()) return false;
      is_events = key == "traceEvents" && cursor.Peek() == '[';
      return is_events ? cursor.Expect('[') : cursor.Value(&value);
    });
    if (!read) return Cut(at_end_ ? "the file ends in the middle" : "not JSON");
    if (done) return;
    first = false;
    if (is_events) {
      ReadEvents();
      if (!report_.cut.empty()) return;
    } else {
      on_fact_(key, value);
    }
  }
}

// After '[', up to ']'.
void KinetoReader::ReadEvents() {
  bool first = true;
  while (true) {
    bool done = false;
    const bool read = Retry([&](JsonCursor& cursor) {
      bool still_first = first;
      done = !cursor.NextElement(still_first) && cursor.ok();
      return done || (cursor.ok() && event_.Read(cursor));
    });
    if (done) return;
    if (read) {
      first = false;
      ++report_.events;
      on_event_(event_);
    } else if (at_end_ && !SkipMalformed()) {
      return Cut("the file ends in the middle of an event");
    } else if (!at_end_ && !SkipMalformed()) {
      return Cut("not JSON");
    } else {
      first = true;  // the next one stands without a comma
    }
  }
}

// Goes to the next thing that looks like the start of an event. False if there is none.
bool KinetoReader::SkipMalformed() {
  // Past the brace of the event that failed.
  const size_t own = Rest().find('{');
  if (own == std::string_view::npos) return false;
  at_ += own + 1;
  while (true) {
    const std::string_view rest = Rest();
    for (size_t brace = rest.find('{'); brace != std::string_view::npos;
         brace = rest.find('{', brace + 1)) {
      const size_t quote = rest.find_first_not_of(" \t\r\n", brace + 1);
      if (quote == std::string_view::npos) break;
      const std::string_view key = rest.substr(quote, 6);
      if (key.starts_with("\"ph\"") || key.starts_with("\"name\"")) {
        ++report_.malformed;
        at_ += brace;
        return true;
      }
    }
    const size_t before = rest.size();
    if (!Refill() || Rest().size() == before) return false;
  }
}

}  // namespace batchlight
