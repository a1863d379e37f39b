#include "inject/cupti/options.h"

#include <cstring>

namespace batchlight::inject::cupti {
namespace {

constexpr char kPrefix[] = "cuda.";

// The value of `key` in `line`, or nullptr. The value ends with the line.
const char* ValueOf(const char* line, const char* key) {
  const size_t bytes = std::strlen(key);
  return std::strncmp(line, key, bytes) == 0 && line[bytes] == '=' ? line + bytes + 1 : nullptr;
}

bool IsWord(const char* text, size_t bytes, const char* word) {
  return std::strlen(word) == bytes && std::memcmp(text, word, bytes) == 0;
}

uint32_t ParseNumber(const char* text) {
  uint32_t number = 0;
  for (; *text >= '0' && *text <= '9' && number < 100'000'000; ++text) {
    number = number * 10 + static_cast<uint32_t>(*text - '0');
  }
  return number;
}

// Calls visit(word, bytes) for each word between commas.
template <typename Visit>
void VisitWords(const char* list, size_t bytes, Visit&& visit) {
  const char* const end = list + bytes;
  while (list < end) {
    const void* comma = std::memchr(list, ',', static_cast<size_t>(end - list));
    const char* word_end = comma != nullptr ? static_cast<const char*>(comma) : end;
    visit(list, static_cast<size_t>(word_end - list));
    list = word_end + 1;
  }
}

// "kernel:1000,sync:500"
void ParseBacktraces(const char* list, size_t bytes, Options& options) {
  VisitWords(list, bytes, [&](const char* word, size_t word_bytes) {
    const void* colon = std::memchr(word, ':', word_bytes);
    if (colon == nullptr) return;
    const auto kind_bytes = static_cast<size_t>(static_cast<const char*>(colon) - word);
    for (size_t kind = 0; kind < kCallKinds; ++kind) {
      if (IsWord(word, kind_bytes, format::kCallKindWords[kind].data())) {
        options.backtrace_ns[kind] = ParseNumber(word + kind_bytes + 1);
      }
    }
  });
}

void ParseKinds(const char* list, size_t bytes, Options& options) {
  struct Kind {
    const char* word;
    bool Options::*member;
  };
  static constexpr Kind kKinds[] = {{"kernels", &Options::kernels},
                                    {"copies", &Options::copies},
                                    {"runtime", &Options::runtime_calls},
                                    {"driver", &Options::driver_calls},
                                    {"waits", &Options::waits},
                                    {"overhead", &Options::overhead},
                                    {"jit", &Options::jit},
                                    {"streams", &Options::streams}};
  for (const Kind& kind : kKinds) options.*kind.member = false;
  VisitWords(list, bytes, [&](const char* word, size_t word_bytes) {
    for (const Kind& kind : kKinds) {
      if (IsWord(word, word_bytes, kind.word)) options.*kind.member = true;
    }
  });
}

void ParseLine(const char* line, size_t bytes, Options& options) {
  struct Flag {
    const char* key;
    bool Options::*member;
  };
  static constexpr Flag kFlags[] = {{"all_apis", &Options::all_calls},
                                    {"memory_usage", &Options::memory_usage},
                                    {"event_trace", &Options::events},
                                    {"um_cpu_page_faults", &Options::cpu_page_faults},
                                    {"um_gpu_page_faults", &Options::gpu_page_faults},
                                    {"flush_on_profiler_stop", &Options::flush_on_stop}};
  for (const Flag& flag : kFlags) {
    if (const char* value = ValueOf(line, flag.key)) options.*flag.member = *value == '1';
  }
  const char* const end = line + bytes;
  if (const char* value = ValueOf(line, "graph_trace")) {
    options.graph_nodes = IsWord(value, static_cast<size_t>(end - value), "node");
  }
  if (const char* value = ValueOf(line, "flush_interval_ms")) {
    if (const uint32_t ms = ParseNumber(value)) options.flush_interval_ms = ms;
  }
  if (const char* value = ValueOf(line, "backtrace")) {
    ParseBacktraces(value, static_cast<size_t>(end - value), options);
  }
  if (const char* value = ValueOf(line, "record")) {
    ParseKinds(value, static_cast<size_t>(end - value), options);
  }
}

}  // namespace

Options ParseOptions(const char* extra) {
  Options options;
  while (*extra != 0) {
    const char* newline = std::strchr(extra, '\n');
    const size_t bytes =
        newline != nullptr ? static_cast<size_t>(newline - extra) : std::strlen(extra);
    constexpr size_t kPrefixBytes = sizeof kPrefix - 1;
    if (bytes > kPrefixBytes && std::memcmp(extra, kPrefix, kPrefixBytes) == 0) {
      ParseLine(extra + kPrefixBytes, bytes - kPrefixBytes, options);
    }
    extra += bytes + (newline != nullptr ? 1 : 0);
  }
  return options;
}

}  // namespace batchlight::inject::cupti
