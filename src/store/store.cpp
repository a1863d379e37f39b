#include "store/store.h"

namespace batchlight {

Store::Store() = default;
Store::Store(Store&& other) noexcept = default;
Store& Store::operator=(Store&& other) noexcept = default;
Store::~Store() = default;

std::string_view Store::Property(std::string_view key) const {
  const StringId id = strings.Find(key);
  if (id.IsNone()) return {};
  for (size_t row = properties.size(); row-- > 0;) {
    if (properties.key[row] == id) return Text(properties.value[row]);
  }
  return {};
}

std::string_view Store::Property(std::string_view key, ProcessId process) const {
  const StringId id = strings.Find(key);
  if (id.IsNone()) return {};
  std::string_view of_session;
  for (size_t row = properties.size(); row-- > 0;) {
    if (properties.key[row] != id) continue;
    if (properties.process[row] == process) return Text(properties.value[row]);
    if (properties.process[row].IsNone() && of_session.empty()) {
      of_session = Text(properties.value[row]);
    }
  }
  return of_session;
}

size_t Store::resident_bytes() const {
  size_t bytes = strings.resident_bytes();
  VisitTables([&](const auto& table) { bytes += table.resident_bytes(); });
  return bytes;
}

}  // namespace batchlight
