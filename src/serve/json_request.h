// The fields of a request's JSON body, checked: the first that is missing, of a wrong type or out
// of range is the error.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace batchlight::serve {

class JsonRequest {
 public:
  // An empty body is an empty object.
  explicit JsonRequest(std::string_view body);

  bool ok() const { return problem_.empty(); }
  const std::string& problem() const { return problem_; }

  bool Has(std::string_view key) const { return Find(key) != nullptr; }
  // A time may be a number or its decimal digits as a string. Without `otherwise` it must be there.
  int64_t Integer(std::string_view key, int64_t least, int64_t most,
                  std::optional<int64_t> otherwise = {});
  int64_t Time(std::string_view key, std::optional<int64_t> otherwise = {});
  std::string Text(std::string_view key, size_t most, std::optional<std::string> otherwise = {});
  // Lists of whole numbers from 0 to UINT32_MAX; of lists of three for `triples`.
  std::vector<uint32_t> Numbers(std::string_view key, size_t most);
  std::vector<std::vector<uint32_t>> Triples(std::string_view key, size_t most);
  std::vector<std::string> Texts(std::string_view key, size_t most);
  const nlohmann::json* Find(std::string_view key) const;

 private:
  void Fail(std::string problem);
  static std::optional<int64_t> IntegerOf(const nlohmann::json& value);
  bool ReadNumbers(const nlohmann::json& list, std::vector<uint32_t>& numbers) const;

  nlohmann::json body_;
  std::string problem_;
};

}  // namespace batchlight::serve
