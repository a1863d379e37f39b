#include "ingest/kineto/kineto_inputs.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ingest/kineto/json_cursor.h"
#include "ingest/kineto/kineto_event.h"

namespace batchlight {
namespace {

constexpr auto kTypes = std::to_array<std::pair<std::string_view, std::string_view>>({
    {"float", "f32"},
    {"double", "f64"},
    {"c10::Half", "f16"},
    {"c10::BFloat16", "bf16"},
    {"long int", "i64"},
    {"long", "i64"},
    {"int", "i32"},
    {"short int", "i16"},
    {"short", "i16"},
    {"signed char", "i8"},
    {"unsigned char", "u8"},
    {"bool", "bool"},
    {"c10::Float8_e5m2", "f8e5m2"},
    {"c10::Float8_e4m3fn", "f8e4m3"},
    {"c10::complex<c10::Half>", "c32"},
    {"c10::complex<float>", "c64"},
    {"c10::complex<double>", "c128"},
});

std::string_view TypeName(std::string_view kineto) {
  for (const auto& [name, ours] : kTypes) {
    if (name == kineto) return ours;
  }
  return {};
}

// The elements of a JSON array, raw.
std::vector<std::string_view> Elements(std::string_view array) {
  std::vector<std::string_view> elements;
  JsonCursor cursor(array);
  if (!cursor.Expect('[')) return elements;
  bool first = true;
  std::string_view value;
  while (cursor.NextElement(first) && cursor.Value(&value)) elements.push_back(value);
  return elements;
}

// "[1, -1]": integers only.
bool IsIntegerList(std::string_view text) {
  if (!text.starts_with('[')) return false;
  const std::vector<std::string_view> elements = Elements(text);
  int64_t ignored = 0;
  return text.ends_with(']') && std::all_of(elements.begin(), elements.end(), [&](auto element) {
           return WholeNumber(element, &ignored);
         });
}

std::string Input(std::string_view dims, std::string_view type, std::string_view concrete) {
  int64_t number = 0;
  if (const std::string_view name = TypeName(type); !name.empty()) {
    return std::string(name) + ShapesFromDims(dims);
  }
  if (WholeNumber(concrete, &number)) return std::to_string(number);
  if (concrete == "True" || concrete == "true") return "1";
  if (concrete == "False" || concrete == "false") return "0";
  if (IsIntegerList(concrete)) return ShapesFromDims(concrete);
  return "-";
}

}  // namespace

std::string ShapesFromDims(std::string_view dims) {
  if (dims.find('"') != dims.npos) return "[]";  // sizes are numbers
  std::string text;
  text.reserve(dims.size() * 5 / 4);
  for (const char c : dims) {
    const bool belongs = (c >= '0' && c <= '9') || c == '[' || c == ']' || c == ',' || c == '-';
    if (!belongs) continue;
    text += c;
    if (c == ',') text += ' ';
  }
  return text;
}

std::string InputsFromKineto(std::string_view dims, std::string_view types,
                             std::string_view concrete) {
  const std::vector<std::string_view> all_dims = Elements(dims);
  const std::vector<std::string_view> all_types = Elements(types);
  const std::vector<std::string_view> all_concrete = Elements(concrete);
  std::string text;
  for (size_t i = 0; i < std::max(all_dims.size(), all_types.size()); ++i) {
    const auto at = [&](const auto& list) {
      return i < list.size() ? list[i] : std::string_view();
    };
    if (i > 0) text += ", ";
    text += Input(at(all_dims), Unquoted(at(all_types)), Unquoted(at(all_concrete)));
  }
  return text;
}

}  // namespace batchlight
