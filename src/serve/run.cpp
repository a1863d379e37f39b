#include "serve/run.h"

#include <algorithm>
#include <ctime>

#include "base/contain.h"
#include "serve/http_server.h"
#include "serve/steady_clock.h"

namespace batchlight::serve {
namespace {

// The page asks once a second.
constexpr int64_t kLookEveryMs = 500;

// Of the whole program: readings are done in parallel.
int64_t ProcessorMs() { return static_cast<int64_t>(std::clock()) / (CLOCKS_PER_SEC / 1000); }

uint64_t EventRowsOf(const Store& store) {
  return store.operator_calls.size() + store.api_calls.size() + store.kernels.size() +
         store.nvtx_ranges.size() + store.os_calls.size() + store.module_calls.size();
}

}  // namespace

Run::~Run() {
  if (beside_.joinable()) beside_.join();
}

Status Run::Read() { return ReadWhole(true); }

Status Run::ReadWhole(bool publish) {
  const int64_t began_ms = ProcessorMs();
  const uint64_t version = source_.version();
  const bool growing = source_.growing();
  // Before it is read: what changes meanwhile is a change.
  const uint64_t state = growing || !source_.state ? 0 : source_.state();
  ASSIGN_OR_RETURN(Store read, source_.read());
  const auto store = std::make_shared<const Store>(std::move(read));
  const bool first = snapshot() == nullptr;
  if (first && EventRowsOf(*store) >= source_.large_rows) {
    auto made = std::make_shared<const Snapshot>(store, source_.steps, ++generation_, false);
    const std::lock_guard lock(mutex_);
    snapshot_ = std::move(made);
  }
  auto made = std::make_shared<const Snapshot>(store, source_.steps, ++generation_);
  {
    const std::lock_guard lock(mutex_);
    whole_ = made;
    growing_ = growing;
    if (publish || !growing) snapshot_ = std::move(made);
  }
  version_ = version;
  state_ = state;
  whole_ms_ = ProcessorMs() - began_ms;
  whole_ended_ms_ = NowMs();
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
  // In parts, the quickest first: who asks meanwhile waits for one of them at the most.
  for (const std::vector<std::string>& keys :
       {std::vector<std::string>{"phases"}, {"operators", "modules", "nvtx_ranges"}, {}}) {
    run->MakeTables(
        {.by_steps = true, .first_step = step.number, .last_step = step.number, .keys = keys});
  }
  // A selected time needs what steps do not.
  run->MakeTables({.from_ns = step.start_ns, .to_ns = step.start_ns + 1});
}

void Run::Follow() {
  if (!growing_) return;
  const std::unique_lock lock(reading_, std::try_to_lock);
  if (!lock.owns_lock()) return;
  // Looks take a quarter of one processor at the most.
  const int64_t began_ms = NowMs();
  if (began_ms - began_ms_ < kLookEveryMs || began_ms - ended_ms_ < 3 * reading_ms_) return;
  began_ms_ = ended_ms_ = began_ms;
  const int64_t before_ms = ProcessorMs();
  const bool growing = source_.growing();
  if (source_.version() == version_ && growing) return;
  // A recording that is being sealed cannot be read for a moment: the next look finds it.
  if (!source_.read_since || whole_ms_ <= source_.most_reading_ms ||
      (!is_reading_whole_ && !whole()->can_go_on())) {
    const Status ignored = ReadWhole(true);
    static_cast<void>(ignored);
  } else if (growing) {
    ReadNewer();
  } else {
    ReadWholeBeside();
  }
  // Beside the other thread it is not known.
  if (!is_reading_whole_) reading_ms_ = ProcessorMs() - before_ms;
  ended_ms_ = NowMs();
}

void Run::ReadNewer() {
  const int64_t before_ms = ProcessorMs();
  const uint64_t version = source_.version();
  const std::shared_ptr<const Snapshot> older = whole();
  if (!older->can_go_on()) return;
  Result<Store> newer = source_.read_since(older->FindSeam().since_ns);
  if (!newer.ok()) return;
  const auto store = std::make_shared<const Store>(std::move(newer).value());
  auto joined = std::make_shared<const Snapshot>(older, store, ++generation_);
  const bool much = ProcessorMs() - before_ms > source_.most_reading_ms;
  // Takes a quarter of one processor at the most, too.
  const bool may = NowMs() - whole_ended_ms_ >= 3 * whole_ms_;
  if (!joined->fits()) {
    if (is_reading_whole_) return;
    const Status ignored = ReadWhole(true);
    static_cast<void>(ignored);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    if (growing_) snapshot_ = std::move(joined);
  }
  version_ = version;
  if (may && much) ReadWholeBeside();
}

void Run::ReadWholeBeside() {
  if (is_reading_whole_) return;
  if (beside_.joinable()) beside_.join();
  is_reading_whole_ = true;
  const Status started = Contain("a thread", [this] {
    beside_ = std::thread([this] {
      HttpServer::LeaveSignals();
      // What there is no memory for is tried again.
      const Status ignored = Contain("reading " + path(), [this] { return ReadWhole(false); });
      static_cast<void>(ignored);
      is_reading_whole_ = false;
    });
    return Status();
  });
  if (!started.ok()) is_reading_whole_ = false;  // a later look tries again
}

std::shared_ptr<const Snapshot> Run::whole() const {
  const std::lock_guard lock(mutex_);
  return whole_;
}

std::shared_ptr<const Snapshot> Run::snapshot() const {
  const std::lock_guard lock(mutex_);
  return snapshot_;
}

}  // namespace batchlight::serve
