#include "inject/collect/collecting_watch.h"

#include "inject/rt/fork_handler.h"

namespace batchlight::inject {

constinit std::atomic<CollectingChanged> g_collecting_changed{nullptr};

namespace {

constinit std::atomic<bool> g_told{true};      // what was told last
constinit std::atomic<bool> g_telling{false};  // a thread is inside TellCollecting()

// A data loader's worker runs operators but no steps, so it would never notice a window.
void InForkedChild() {
  const CollectingChanged changed = g_collecting_changed.load();
  g_telling.store(false);
  if (!g_told.exchange(true) && changed != nullptr) changed(1);
}

}  // namespace

void WatchCollecting(CollectingChanged changed) {
  const format::ControlPage* page = Control();
  if (page == nullptr || page->trigger == format::CaptureTrigger::kNone) return;
  if (g_collecting_changed.exchange(changed) == nullptr) {
    OnForkInChild(InForkedChild);
  }
}

void TellCollecting(CollectingChanged changed) {
  FollowInTurn(g_told, g_telling, [changed](bool collecting) { changed(collecting ? 1 : 0); });
}

}  // namespace batchlight::inject
