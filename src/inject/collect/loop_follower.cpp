#include "inject/collect/loop_follower.h"

#include "format/records.h"
#include "inject/collect/collecting_watch.h"
#include "inject/collect/iteration_finder.h"
#include "inject/collect/step_board.h"
#include "inject/collect/step_detail.h"
#include "inject/collect/step_window.h"
#include "inject/rt/control.h"
#include "inject/rt/fork_handler.h"
#include "inject/rt/option_number.h"
#include "inject/rt/text.h"

namespace batchlight::inject {

bool g_follows_loop = false;
constinit std::atomic<bool> g_follows_ranges{false};
void (*g_on_iteration)(uint64_t number) = nullptr;

namespace {

bool g_counts_steps = false;  // of optimizers, for windows
bool g_has_detail = false;    // some steps go without it
bool g_has_counters = false;  // hardware counters are read over some steps
IterationFinder g_finder;     // of the training thread
// The first thread on which an optimizer steps; its own depth stands for it.
constinit std::atomic<const uint32_t*> g_training_thread{nullptr};

__thread uint32_t t_phase_depth;
__thread uint32_t t_step_depth;  // depth of the open optimizer step, 0 = none
__thread uint64_t t_step_name;

bool IsTrainingThread() {
  const uint32_t* nobody = nullptr;
  const uint32_t* known = g_training_thread.load(std::memory_order_relaxed);
  return known == &t_phase_depth ||
         (known == nullptr && g_training_thread.compare_exchange_strong(nobody, &t_phase_depth));
}

bool FollowsIterations() { return g_has_detail || g_has_counters; }

void AtIterationEnd() {
  if (g_has_detail) IterationEnded();
  if (g_on_iteration != nullptr) g_on_iteration(g_finder.iterations());
}

// A forked child (a data loader's worker) is another loop, if it is one.
void InForkedChild() {
  g_training_thread.store(nullptr);
  g_finder = IterationFinder();
  g_follows_ranges = false;
}

}  // namespace

void ReadLoopOptions() {
  g_counts_steps = ReadStepWindows();
  g_has_detail = ReadStepDetail();
  g_has_counters = Control() != nullptr && (HasOption(Control()->extra, "counters.pass=") ||
                                            HasOption(Control()->extra, "stalls.share="));
  ReadStepBoard();
  g_follows_loop = g_counts_steps || FollowsIterations() || g_has_board;
  if (g_counts_steps) FollowWindows();
  if (FollowsIterations()) OnForkInChild(InForkedChild);
}

void LoopPhaseBegins(uint32_t phase, const char* name, size_t name_bytes) {
  if (g_has_board) BoardPhaseBegins(phase);
  ++t_phase_depth;
  if (phase != static_cast<uint32_t>(format::Phase::kOptimizerStep) || t_step_depth != 0) return;
  t_step_depth = t_phase_depth;
  t_step_name = HashBytes(name, name_bytes);
}

void LoopPhaseEnds(int range_depth) {
  if (g_has_board) BoardPhaseEnds();
  if (t_phase_depth == 0) return;
  const bool step_ends = t_phase_depth-- == t_step_depth;
  if (!step_ends) return;
  t_step_depth = 0;
  if (g_counts_steps) StepEnded();
  if (!FollowsIterations() || !IsTrainingThread()) return;
  const bool iteration_ends = g_finder.OptimizerStepped(t_step_name, range_depth);
  g_follows_ranges = g_finder.watches();
  if (iteration_ends) AtIterationEnd();
}

void LoopRangeEnds(int range_depth) {
  if (!FollowsIterations() || !IsTrainingThread()) return;
  const bool iteration_ends = g_finder.RangeEnded(range_depth);
  g_follows_ranges = g_finder.watches();
  if (iteration_ends) AtIterationEnd();
}

}  // namespace batchlight::inject
