#include "serve/json_request.h"

#include <charconv>

namespace batchlight::serve {
namespace {

using nlohmann::json;

// Deep nesting would overflow the stack where the value is destroyed.
bool IsTooDeep(std::string_view body) {
  size_t depth = 0;
  bool in_text = false;
  for (size_t i = 0; i < body.size(); ++i) {
    const char c = body[i];
    if (in_text) {
      if (c == '\\') ++i;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '[' || c == '{') {
      if (++depth > 64) return true;
    } else if ((c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

}  // namespace

JsonRequest::JsonRequest(std::string_view body) : body_(json::object()) {
  if (body.empty()) return;
  if (IsTooDeep(body)) {
    Fail("the body nests deeper than 64 levels");
    return;
  }
  body_ = json::parse(body, nullptr, false);
  if (body_.is_discarded() || !body_.is_object()) {
    body_ = json::object();
    Fail("the body is no JSON object");
  }
}

void JsonRequest::Fail(std::string problem) {
  if (problem_.empty()) problem_ = std::move(problem);
}

const json* JsonRequest::Find(std::string_view key) const {
  const auto at = body_.find(key);
  return at == body_.end() || at->is_null() ? nullptr : &*at;
}

std::optional<int64_t> JsonRequest::IntegerOf(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<uint64_t>();
    return number > INT64_MAX ? std::nullopt : std::optional(static_cast<int64_t>(number));
  }
  if (value.is_number_integer()) return value.get<int64_t>();
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    if (!(number >= -9e15 && number <= 9e15)) return std::nullopt;
    return static_cast<int64_t>(number);
  }
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

int64_t JsonRequest::Integer(std::string_view key, int64_t least, int64_t most,
                             std::optional<int64_t> otherwise) {
  const json* value = Find(key);
  if (value == nullptr) {
    if (!otherwise) Fail("`" + std::string(key) + "` is missing");
    return otherwise.value_or(least);
  }
  const std::optional<int64_t> number = IntegerOf(*value);
  if (number && *number >= least && *number <= most) return *number;
  Fail("`" + std::string(key) + "`: a whole number from " + std::to_string(least) + " to " +
       std::to_string(most));
  return least;
}

int64_t JsonRequest::Time(std::string_view key, std::optional<int64_t> otherwise) {
  return Integer(key, INT64_MIN / 4, INT64_MAX / 4, otherwise);
}

std::string JsonRequest::Text(std::string_view key, size_t most,
                              std::optional<std::string> otherwise) {
  const json* value = Find(key);
  if (value == nullptr) {
    if (!otherwise) Fail("`" + std::string(key) + "` is missing");
    return otherwise.value_or("");
  }
  if (value->is_string() && value->get_ref<const std::string&>().size() <= most) {
    return value->get<std::string>();
  }
  Fail("`" + std::string(key) + "`: a text of at most " + std::to_string(most) + " bytes");
  return {};
}

bool JsonRequest::ReadNumbers(const json& list, std::vector<uint32_t>& numbers) const {
  if (!list.is_array()) return false;
  for (const json& value : list) {
    const std::optional<int64_t> number = IntegerOf(value);
    if (!number || *number < 0 || *number > UINT32_MAX) return false;
    numbers.push_back(static_cast<uint32_t>(*number));
  }
  return true;
}

std::vector<uint32_t> JsonRequest::Numbers(std::string_view key, size_t most) {
  std::vector<uint32_t> numbers;
  const json* value = Find(key);
  if (value == nullptr || value->size() > most || !ReadNumbers(*value, numbers)) {
    Fail("`" + std::string(key) + "`: a list of at most " + std::to_string(most) +
         " whole numbers of 32 bits");
    numbers.clear();
  }
  return numbers;
}

std::vector<std::vector<uint32_t>> JsonRequest::Triples(std::string_view key, size_t most) {
  std::vector<std::vector<uint32_t>> triples;
  const json* value = Find(key);
  bool fine = value != nullptr && value->is_array() && value->size() <= most;
  for (size_t i = 0; fine && i < value->size(); ++i) {
    fine = ReadNumbers((*value)[i], triples.emplace_back()) && triples.back().size() == 3;
  }
  if (fine) return triples;
  Fail("`" + std::string(key) + "`: a list of at most " + std::to_string(most) +
       " lists of three whole numbers");
  return {};
}

std::vector<std::string> JsonRequest::Texts(std::string_view key, size_t most) {
  std::vector<std::string> texts;
  const json* value = Find(key);
  if (value == nullptr) return texts;
  bool fine = value->is_array() && value->size() <= most;
  for (size_t i = 0; fine && i < value->size(); ++i) {
    fine = (*value)[i].is_string();
    if (fine) texts.push_back((*value)[i].get<std::string>());
  }
  if (fine) return texts;
  Fail("`" + std::string(key) + "`: a list of at most " + std::to_string(most) + " texts");
  return {};
}

}  // namespace batchlight::serve
