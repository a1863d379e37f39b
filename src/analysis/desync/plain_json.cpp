#include "analysis/desync/plain_json.h"

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace batchlight {
namespace {

constexpr size_t kMostDepth = 32;
constexpr size_t kMostKeys = 1024;  // that are kept once, however often they are named

// What nlohmann::json::sax_parse calls, by these names.
class JsonReader {
 public:
  explicit JsonReader(size_t most_values) : most_values_(most_values) {}

  bool null() { return Push(tree_.AddNone()); }
  bool boolean(bool value) { return Push(tree_.AddBool(value)); }
  bool number_integer(int64_t value) { return Push(tree_.AddInteger(value)); }
  bool number_unsigned(uint64_t value) {
    return Push(tree_.AddInteger(static_cast<int64_t>(value)));
  }
  bool number_float(double value, const std::string&) { return Push(tree_.AddReal(value)); }
  bool string(const std::string& text) { return Push(tree_.AddText(tree_.Keep(text))); }
  bool binary(const std::vector<uint8_t>&) { return false; }  // JSON has none
  bool key(const std::string& name) {
    const auto known = keys_.find(name);
    if (known != keys_.end()) return Push(known->second);
    const uint32_t node = tree_.AddText(tree_.Keep(name));
    if (keys_.size() < kMostKeys) keys_.emplace(name, node);
    return Push(node);
  }
  bool start_array(size_t) { return Begin(); }
  bool end_array() { return End(PlainKind::kList); }
  bool start_object(size_t) { return Begin(); }
  bool end_object() { return End(PlainKind::kDictionary); }
  bool parse_error(size_t byte, const std::string&, const nlohmann::json::exception&) {
    return Fail("it is damaged JSON at byte " + std::to_string(byte));
  }

  Result<PlainTree> Read(std::string_view text) {
    if (!nlohmann::json::sax_parse(text, this)) return InputError(error_);
    tree_.SetRoot(stack_[0]);
    return std::move(tree_);
  }

 private:
  bool Fail(std::string why) {
    error_ = std::move(why);
    return false;
  }

  bool Push(uint32_t node) {
    stack_.push_back(node);
    if (tree_.size() <= most_values_) return true;
    return Fail("it has over " + std::to_string(most_values_) + " values");
  }

  bool Begin() {
    if (begins_.size() >= kMostDepth) return Fail("its lists lie too deep in each other");
    begins_.push_back(stack_.size());
    return true;
  }

  bool End(PlainKind kind) {
    const uint32_t list = tree_.AddList(kind, std::span(stack_).subspan(begins_.back()));
    stack_.resize(begins_.back());
    begins_.pop_back();
    return Push(list);
  }

  const size_t most_values_;
  std::string error_;
  PlainTree tree_;
  std::vector<uint32_t> stack_;
  std::vector<size_t> begins_;  // sizes of the stack
  std::unordered_map<std::string, uint32_t> keys_;
};

}  // namespace

Result<PlainTree> ReadPlainJson(std::string_view text, size_t most_values) {
  return JsonReader(most_values).Read(text);
}

}  // namespace batchlight
