#include "cli/engines/dispatch.h"

#include <algorithm>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "cli/engines/work_lines.h"
#include "cli/reading/standard_output.h"

namespace batchlight::cli {
namespace {

constexpr int kMostTries = 3;        // of an input
constexpr int kMostFailures = 3;     // of a place, one after the other
constexpr size_t kMostAtOnce = 64;   // inputs of a call
constexpr size_t kCallsOfASlot = 4;  // so that those that are done early get more

struct Todo {
  size_t input = 0;
  int tries = 0;
  std::string failure;
  std::set<std::string> failed_at;
};

struct Call {
  size_t place = 0;
  std::vector<Todo> todos;  // by their place in the call
  std::vector<bool> answered;
};

class Dispatcher {
 public:
  Dispatcher(Workers& workers, const std::vector<WorkPlace>& places,
             const std::vector<EngineInput>& inputs, const Work& work, const TakeWork& take)
      : workers_(workers),
        places_(places),
        inputs_(inputs),
        work_(work),
        take_(take),
        busy_(places.size()),
        failures_(places.size()) {
    for (const WorkPlace& place : places) slots_ += place.slots;
  }

  Status Run(const std::vector<size_t>& which) {
    for (const size_t input : which) waiting_.push_back({.input = input, .failure = {}});
    at_once_ = std::clamp<size_t>(which.size() / (slots_ * kCallsOfASlot), 1, kMostAtOnce);
    while (true) {
      RETURN_IF_ERROR(Fill());
      if (calls_.empty()) break;
      ASSIGN_OR_RETURN(const Workers::Event event, workers_.Next());
      const auto call = calls_.find(event.call);
      if (call == calls_.end()) continue;
      if (event.ended) {
        End(call->second, event.failure);
        calls_.erase(call);
      } else {
        Hear(call->second, event.line);
      }
    }
    for (Todo& todo : waiting_) GiveUp(todo);  // no machine is left for these
    return {};
  }

 private:
  // Gives every free slot something to do.
  Status Fill() {
    for (size_t place = 0; place < places_.size(); ++place) {
      while (failures_[place] < kMostFailures && busy_[place] < places_[place].slots) {
        Call call{.place = place, .todos = TodosFor(place), .answered = {}};
        if (call.todos.empty()) break;
        call.answered.resize(call.todos.size());
        std::vector<std::string> words = {"work"};
        words.insert(words.end(), work_.words.begin(), work_.words.end());
        words.emplace_back("--");
        for (const Todo& todo : call.todos) words.push_back(InputWord(inputs_[todo.input].seen));
        RETURN_IF_ERROR(workers_.Begin(next_call_, places_[place].name, words));
        calls_.emplace(next_call_++, std::move(call));
        ++busy_[place];
      }
    }
    return {};
  }

  bool MayRunAt(const Todo& todo, size_t place) const {
    const std::vector<std::string>& seen_by = inputs_[todo.input].places;
    return std::find(seen_by.begin(), seen_by.end(), places_[place].name) != seen_by.end();
  }

  // Whether a machine that has not failed with it is left.
  bool BetterElsewhere(const Todo& todo) const {
    for (size_t place = 0; place < places_.size(); ++place) {
      if (failures_[place] < kMostFailures && !todo.failed_at.contains(places_[place].name) &&
          MayRunAt(todo, place)) {
        return true;
      }
    }
    return false;
  }

  // One that failed goes alone: it may be what ended the machine's call.
  std::vector<Todo> TodosFor(size_t place) {
    std::vector<Todo> todos;
    for (auto at = waiting_.begin(); at != waiting_.end() && todos.size() < at_once_;) {
      const bool failed_here = at->failed_at.contains(places_[place].name);
      if (!MayRunAt(*at, place) || (failed_here && BetterElsewhere(*at)) ||
          (at->tries > 0 && !todos.empty())) {
        ++at;
        continue;
      }
      const bool alone = at->tries > 0;
      todos.push_back(std::move(*at));
      at = waiting_.erase(at);
      if (alone) break;
    }
    return todos;
  }

  void Hear(Call& call, const std::string& line) {
    auto answer = ReadAnswerLine(line);
    if (!answer || answer->at >= call.todos.size() || call.answered[answer->at]) return;
    if (answer->sees_other) {
      call.todos[answer->at].failure = answer->bytes.status().message();
      return;  // as one without an answer
    }
    call.answered[answer->at] = true;
    failures_[call.place] = 0;
    take_(call.todos[answer->at].input, std::move(answer->bytes));
  }

  void End(Call& call, const std::string& failure) {
    --busy_[call.place];
    const std::string& name = places_[call.place].name;
    size_t again = 0;
    for (size_t i = 0; i < call.todos.size(); ++i) {
      if (call.answered[i]) continue;
      Todo& todo = call.todos[i];
      if (todo.failure.empty() || !failure.empty()) {
        todo.failure = name + " gave no answer" + (failure.empty() ? "" : ": " + failure);
      }
      todo.failed_at.insert(name);
      if (++todo.tries >= kMostTries) {
        GiveUp(todo);
      } else {
        waiting_.push_back(std::move(todo));
        ++again;
      }
    }
    if (failure.empty()) return;
    ++failures_[call.place];
    SayLine("batchlight: " + name + ": " + failure +
            (again > 0 ? "; " + std::to_string(again) + " recordings are read again" : "") +
            (failures_[call.place] == kMostFailures ? "; it gets no more" : ""));
  }

  void GiveUp(const Todo& todo) {
    take_(todo.input,
          InputError("cannot read " + inputs_[todo.input].seen.path + ": " +
                     (todo.failure.empty() ? "no machine that sees it is left" : todo.failure)));
  }

  Workers& workers_;
  const std::vector<WorkPlace>& places_;
  const std::vector<EngineInput>& inputs_;
  const Work& work_;
  const TakeWork& take_;
  std::vector<size_t> busy_;   // calls, by place
  std::vector<int> failures_;  // one after the other, by place
  size_t slots_ = 0;
  size_t at_once_ = 1;
  size_t next_call_ = 0;
  std::list<Todo> waiting_;
  std::map<size_t, Call> calls_;
};

}  // namespace

Status Dispatch(Workers& workers, const std::vector<WorkPlace>& places,
                const std::vector<EngineInput>& inputs, const std::vector<size_t>& which,
                const Work& work, const TakeWork& take) {
  if (which.empty()) return {};
  return Dispatcher(workers, places, inputs, work, take).Run(which);
}

}  // namespace batchlight::cli
