// The answers of `run` and `event` as JSON (docs/design/0016-timeline.md): what the page knows of a
// run before it asks for a picture, and all that is known of one event.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "timeline/answers/links.h"
#include "timeline/index/timeline.h"

namespace batchlight::timeline {

struct RunState {
  uint32_t generation = 1;
  bool growing = false;
  bool complete = true;  // with what analyses find
};

nlohmann::json RunJson(const Timeline& timeline, const RunState& state);

// 16 hex digits, the same for the same recording.
std::string RunHash(const Store& store);

// An event in short: ref, name, table, track, depth, from, to.
nlohmann::json EventJson(const Timeline& timeline, uint32_t ref);
// In full.
nlohmann::json EventDetails(const Timeline& timeline, const Links& links, uint32_t ref);
// The line that a sampled call of Python was mostly in during this time, and how much of that it
// was; null: it is none, or nobody knows.
nlohmann::json LineWithin(const Timeline& timeline, uint32_t ref, int64_t from_ns, int64_t to_ns);

// JSON as bytes: what is not UTF-8 is replaced.
std::string DumpJson(const nlohmann::json& json);

}  // namespace batchlight::timeline
