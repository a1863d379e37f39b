#include "report/timeline/timeline_names.h"

#include <nlohmann/json.hpp>

#include "report/text/kernel_text.h"
#include "timeline/answers/event_bytes.h"

namespace batchlight {

nlohmann::json TimelineNames(const timeline::Names& names, const std::vector<uint32_t>& ids) {
  nlohmann::json texts = nlohmann::json::array();
  nlohmann::json labels = nlohmann::json::object();
  for (size_t place = 0; place < ids.size(); ++place) {
    const std::string_view text = names.Text(ids[place]);
    if (names.IsKernel(ids[place])) {
      std::string label = KernelLabel(text);
      if (label != text) labels[std::to_string(place)] = label.substr(0, timeline::kShownNameBytes);
    }
    texts.push_back(std::string(text.substr(0, timeline::kShownNameBytes)));
  }
  return {{"names", std::move(texts)}, {"labels", std::move(labels)}};
}

}  // namespace batchlight
