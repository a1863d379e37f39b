#include "inject/collect/collecting_watch.h"

#include "inject/collect/step_detail.h"
#include "inject/rt/fork_handler.h"

namespace batchlight::inject {

bool g_follows_collecting = false;

namespace {

constinit std::atomic<CollectingChanged> g_changed{nullptr};
constinit std::atomic<bool> g_told{true};      // what was told last
constinit std::atomic<bool> g_telling{false};  // a thread is inside TellCollecting()
bool g_follows_windows = false;

// Without windows and ranges only plain steps count: of a collection that the tool begins later
// nobody might hear.
bool Wanted() { return !IsPlainStep() && (!g_follows_windows || Collecting()); }

void Tell(bool collecting) {
  g_modules_pass.store(collecting ? 0 : 1, std::memory_order_relaxed);
  const CollectingChanged changed = g_changed.load();
  if (changed != nullptr) changed(collecting ? 1 : 0);
}

// A data loader's worker runs operators but no steps, so it would never notice a window.
void InForkedChild() {
  g_telling.store(false);
  if (!g_told.exchange(true)) Tell(true);
}

void Follow() {
  if (g_follows_collecting) return;
  g_follows_collecting = true;
  OnForkInChild(InForkedChild);
}

}  // namespace

void WatchCollecting(CollectingChanged changed) {
  const format::ControlPage* page = Control();
  if (page == nullptr) return;
  if (page->trigger != format::CaptureTrigger::kNone) FollowWindows();
  if (!g_follows_collecting) return;
  if (g_changed.exchange(changed) == nullptr && !g_told.load()) changed(0);
}

void FollowPlainSteps() { Follow(); }

void FollowWindows() {
  g_follows_windows = true;
  Follow();
}

void TellCollecting() { FollowInTurn(g_told, g_telling, Wanted, Tell); }

}  // namespace batchlight::inject
