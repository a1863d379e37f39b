#include "cli/engines/work_lines.h"

#include <zstd.h>

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "report/text/base64.h"

namespace batchlight::cli {
namespace {

using nlohmann::json;

constexpr int kLevel = 1;
constexpr unsigned long long kMostBytes = 1ull << 32;  // of one answer, unpacked

std::string Packed(std::string_view bytes) {
  std::string packed(ZSTD_compressBound(bytes.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), kLevel));
  return packed;
}

std::optional<std::string> Unpacked(std::string_view packed) {
  const auto size = ZSTD_getFrameContentSize(packed.data(), packed.size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > kMostBytes) {
    return std::nullopt;
  }
  std::string bytes(size, '\0');
  const size_t done = ZSTD_decompress(bytes.data(), size, packed.data(), packed.size());
  if (done != size) return std::nullopt;
  return bytes;
}

// A path may hold any bytes, JSON text may not.
json TextOf(std::string_view bytes) { return Base64(bytes); }

std::optional<std::string> BytesAt(const json& line, const char* key) {
  const auto at = line.find(key);
  if (at == line.end() || !at->is_string()) return std::nullopt;
  return FromBase64(at->get_ref<const std::string&>());
}

template <typename T>
std::optional<T> NumberAt(const json& line, const char* key) {
  const auto at = line.find(key);
  if (at == line.end() || !at->is_number_integer()) return std::nullopt;
  return at->get<T>();
}

template <typename T>
bool TakeNumber(std::string_view& word, T* number) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), *number);
  const auto length = static_cast<size_t>(end - word.data());
  if (error != std::errc() || length == word.size() || *end != ':') return false;
  word.remove_prefix(length + 1);
  return true;
}

ErrorKind KindOf(int number) {
  for (const ErrorKind kind :
       {ErrorKind::kGate, ErrorKind::kUsage, ErrorKind::kInput, ErrorKind::kOutput}) {
    if (static_cast<int>(kind) == number) return kind;
  }
  return ErrorKind::kInternal;
}

}  // namespace

std::string InputWord(const SeenInput& input) {
  return std::to_string(input.bytes) + ':' + std::to_string(input.changed_ns) + ':' + input.path;
}

std::optional<SeenInput> ReadInputWord(std::string_view word) {
  SeenInput input;
  if (!TakeNumber(word, &input.bytes) || !TakeNumber(word, &input.changed_ns)) return std::nullopt;
  input.path = word;
  return input;
}

std::string SeenLine(const SeenInput& input) {
  return json{
             {"path", TextOf(input.path)}, {"bytes", input.bytes}, {"changed_ns", input.changed_ns}}
             .dump() +
         '\n';
}

std::optional<SeenInput> ReadSeenLine(std::string_view text) {
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) return std::nullopt;
  auto path = BytesAt(line, "path");
  const auto bytes = NumberAt<uint64_t>(line, "bytes");
  const auto changed = NumberAt<int64_t>(line, "changed_ns");
  if (!path || !bytes || !changed) return std::nullopt;
  return SeenInput{std::move(*path), *bytes, *changed};
}

std::string AnswerLine(const WorkAnswer& answer) {
  json line{{"at", answer.at}};
  if (answer.bytes.ok()) {
    line["answer"] = TextOf(Packed(answer.bytes.value()));
  } else {
    line["kind"] = answer.bytes.status().exit_code();
    line["message"] = TextOf(answer.bytes.status().message());
  }
  if (answer.sees_other) line["sees_other"] = true;
  return line.dump() + '\n';
}

std::optional<WorkAnswer> ReadAnswerLine(std::string_view text) {
  const json line = json::parse(text, nullptr, false);
  if (!line.is_object()) return std::nullopt;
  const auto at = NumberAt<size_t>(line, "at");
  if (!at) return std::nullopt;
  WorkAnswer answer{.at = *at, .sees_other = line.contains("sees_other")};
  if (const auto kind = NumberAt<int>(line, "kind")) {
    const auto message = BytesAt(line, "message");
    if (!message) return std::nullopt;
    answer.bytes = Status::Error(KindOf(*kind), *message);
    return answer;
  }
  const auto packed = BytesAt(line, "answer");
  auto bytes = packed ? Unpacked(*packed) : std::nullopt;
  if (!bytes) return std::nullopt;
  answer.bytes = std::move(*bytes);
  return answer;
}

}  // namespace batchlight::cli
