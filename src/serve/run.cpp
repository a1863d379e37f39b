#include "serve/run.h"

#include <algorithm>
#include <chrono>

#include "serve/steady_clock.h"
#include "timeline/tracks/build_timeline.h"

namespace batchlight::serve {
namespace {

constexpr int64_t kLookEveryMs = 1000;

uint64_t EventRowsOf(const Store& store) {
  return store.operator_calls.size() + store.api_calls.size() + store.kernels.size() +
         store.nvtx_ranges.size() + store.os_calls.size() + store.module_calls.size();
}

}  // namespace

Snapshot::Snapshot(std::shared_ptr<const Store> store, const StepOptions& steps,
                   uint32_t generation, bool complete)
    : store_(std::move(store)),
      steps_(steps),
      timeline_(timeline::BuildTimeline(*store_, {.steps = steps, .derived = complete})),
      range_tables_(*timeline_, steps),
      generation_(generation),
      complete_(complete) {}

const timeline::Links& Snapshot::links() const {
  std::call_once(links_once_, [this] { links_.emplace(*timeline_); });
  return *links_;
}

Status Run::Read() {
  const uint64_t version = source_.version();
  const bool growing = source_.growing();
  // Before it is read: what changes meanwhile is a change.
  const uint64_t state = growing || !source_.state ? 0 : source_.state();
  ASSIGN_OR_RETURN(Store read, source_.read());
  const auto store = std::make_shared<const Store>(std::move(read));
  const bool first = snapshot() == nullptr;
  if (first && EventRowsOf(*store) >= source_.large_rows) Publish(store, false);
  Publish(store, true);
  version_ = version;
  growing_ = growing;
  state_ = state;
  return {};
}

FileChange Run::change() const {
  if (state_ == 0) return FileChange::kNone;
  const uint64_t now = source_.state();
  if (now == state_) return FileChange::kNone;
  return now == 0 ? FileChange::kRemoved : FileChange::kReplaced;
}

void Run::Prepare() const {
  const std::shared_ptr<const Snapshot> run = snapshot();
  if (growing_ || run == nullptr || EventRowsOf(run->store()) > source_.most_prepared_rows) return;
  const ProcessSteps* steps = run->timeline().steps().Main();
  if (steps == nullptr) return;
  const Step& step = steps->steps.front();
  run->range_tables().Make({.by_steps = true, .first_step = step.number, .last_step = step.number});
  // A selected time needs what steps do not.
  run->range_tables().Make({.from_ns = step.start_ns, .to_ns = step.start_ns + 1});
}

void Run::Publish(std::shared_ptr<const Store> store, bool complete) {
  const std::shared_ptr<const Snapshot> before = snapshot();
  const uint32_t generation = before == nullptr ? 1 : before->generation() + 1;
  auto made =
      std::make_shared<const Snapshot>(std::move(store), source_.steps, generation, complete);
  const std::lock_guard lock(mutex_);
  snapshot_ = std::move(made);
}

void Run::Follow() {
  if (!growing_) return;
  const std::unique_lock lock(reading_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  // Reading takes a quarter of one processor at the most.
  if (NowMs() - looked_ms_ < std::max(kLookEveryMs, 3 * reading_ms_)) return;
  const int64_t began_ms = NowMs();
  looked_ms_ = began_ms;
  if (source_.version() == version_ && source_.growing()) return;
  // A recording that is being sealed cannot be read for a moment: the next look finds it.
  const Status ignored = Read();
  static_cast<void>(ignored);
  looked_ms_ = NowMs();
  reading_ms_ = looked_ms_ - began_ms;
}

std::shared_ptr<const Snapshot> Run::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

}  // namespace batchlight::serve
