#include "columnar/field_facts.h"

#include "base/json_text.h"

namespace batchlight {
namespace {

void AppendText(std::string_view key, std::string_view value, std::string& json) {
  if (value.empty()) return;
  json += json.ends_with('{') ? "\"" : ",\"";
  json += key;
  json += "\":\"";
  AppendJsonEscaped(value, json);
  json += '"';
}

}  // namespace

std::vector<std::pair<std::string, std::string>> FileFacts(const ColumnarSchema& schema) {
  std::vector<std::pair<std::string, std::string>> facts = {{"batchlight.table", schema.table}};
  for (const auto& [key, value] : schema.facts) {
    facts.emplace_back("batchlight." + key, ValidUtf8(value));
  }
  return facts;
}

std::string FieldsAsJson(const std::vector<ColumnarField>& fields) {
  std::string json = "{";
  for (const ColumnarField& field : fields) {
    if (field.unit.empty() && field.help.empty()) continue;
    json += json == "{" ? "\"" : ",\"";
    AppendJsonEscaped(field.name, json);
    json += "\":{";
    AppendText("unit", field.unit, json);
    AppendText("help", field.help, json);
    json += '}';
  }
  return json + "}";
}

}  // namespace batchlight
