#include <algorithm>
#include <deque>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/child.h"
#include "base/split.h"
#include "capture/program/python_verb.h"
#include "cli/engines/line_children.h"
#include "cli/engines/workers.h"

namespace batchlight::cli {
namespace {

using nlohmann::json;

constexpr size_t kShim = 0;

std::string TextAt(const json& message, const char* key) {
  const auto at = message.find(key);
  return at != message.end() && at->is_string() ? at->get<std::string>() : std::string();
}

// A child that is a client of the cluster (python/batchlight/_dask_engine.py), in the user's
// Python.
class Dask : public Workers {
 public:
  explicit Dask(std::string scheduler) : scheduler_(std::move(scheduler)) {}

  Result<std::vector<WorkPlace>> Open() override {
    ASSIGN_OR_RETURN(const std::vector<std::string> words,
                     capture::PythonWords("dask-engine", {scheduler_}));
    RETURN_IF_ERROR(shim_.Start(kShim, words, true));
    ASSIGN_OR_RETURN(const json hello, Hear());
    std::vector<WorkPlace> places;
    const auto listed = hello.find("places");
    if (listed != hello.end() && listed->is_object()) {
      for (const auto& [host, slots] : listed->items()) {
        if (!slots.is_number_unsigned()) continue;
        places.push_back({.name = host, .slots = std::max<size_t>(1, slots.get<size_t>())});
      }
    }
    if (places.empty()) return UsageError("--engine dask: the cluster has no worker");
    return places;
  }

  Status Begin(size_t call, const std::string& place,
               const std::vector<std::string>& words) override {
    const json request = {{"call", call}, {"place", place}, {"words", ProgramOfWorkers(words)}};
    return shim_.Say(kShim, request.dump(-1, ' ', true, json::error_handler_t::replace) + '\n');
  }

  Result<Event> Next() override {
    while (events_.empty()) {
      ASSIGN_OR_RETURN(const json message, Hear());
      const auto call = message.find("call");
      if (call == message.end() || !call->is_number_unsigned()) continue;
      const auto number = call->get<size_t>();
      const std::string out = TextAt(message, "out");
      for (const std::string_view line : SplitAt(out, '\n')) {
        if (line.empty()) continue;
        events_.push_back({.call = number, .line = std::string(line), .failure = {}});
      }
      events_.push_back(
          {.call = number, .ended = true, .line = {}, .failure = TextAt(message, "failure")});
    }
    Event event = std::move(events_.front());
    events_.pop_front();
    return event;
  }

 private:
  // Its next message. Errors: the one that it says, or that it has ended.
  Result<json> Hear() {
    const LineChildren::Event event = shim_.Next();
    if (event.ended) {
      return UsageError("--engine dask: the client ended: " +
                        (event.said.empty() ? "it does not say why" : event.said));
    }
    json message = json::parse(event.line, nullptr, false);
    if (!message.is_object()) message = json::object();
    const std::string problem = TextAt(message, "problem");
    if (!problem.empty()) return UsageError("--engine dask: " + problem);
    return message;
  }

  const std::string scheduler_;
  LineChildren shim_;
  std::deque<Event> events_;
};

}  // namespace

std::unique_ptr<Workers> DaskWorkers(const std::string& scheduler) {
  return std::make_unique<Dask>(scheduler);
}

}  // namespace batchlight::cli
