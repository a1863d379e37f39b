#include "analysis/advice/module_callers.h"

#include <gtest/gtest.h>

#include <initializer_list>

#include "analysis/testing/findings.h"

namespace batchlight::advice {
namespace {

using testing::kMs;
using testing::StoreBuilder;

constexpr const char* kModule = "/usr/lib/python3/dist-packages/torch/nn/modules/module.py";

struct Frame {
  const char* file;
  const char* function;
  uint32_t line;
};

// A student and, called from its own forward, a teacher: both seen by a look in every step.
class Made {
 public:
  explicit Made(bool wrapped) : thread_(build_.Thread(build_.Process(7, "train.py"))) {
    const Frame main = {"/home/u/train.py", "main", 40};
    const Frame call = {kModule, "Module._call_impl", 1790};
    const Frame student = {"/home/u/model.py", "Student.forward", 12};
    const Frame teacher = {"/home/u/model.py", "Teacher.forward", 30};
    // From PyTorch 2 on.
    const Frame wrapper = {kModule, "Module._wrapped_call_impl", 1780};
    const PythonStackId in_student =
        wrapped ? Stack({main, wrapper, call, student}) : Stack({main, call, student});
    const PythonStackId in_teacher =
        wrapped ? Stack({main, wrapper, call, student, wrapper, call, teacher})
                : Stack({main, call, student, call, teacher});
    for (int64_t t = kMs; t < 12 * 20 * kMs; t += 20 * kMs) {
      build_.Module(thread_, "Student", "Student", t, t + 8 * kMs);
      Look(in_student, t + kMs);
      build_.Module(thread_, "teacher", "Teacher", t + 2 * kMs, t + 6 * kMs);
      Look(in_teacher, t + 4 * kMs);
      build_.Phase(thread_, Phase::kBackward, "backward", t + 9 * kMs, t + 15 * kMs);
      build_.Phase(thread_, Phase::kOptimizerStep, "Optimizer.step#SGD.step", t + 16 * kMs,
                   t + 18 * kMs);
    }
    store_ = build_.Build();
  }

  const Store& store() const { return store_; }

 private:
  PythonStackId Stack(std::initializer_list<Frame> outermost_first) {
    Store& store = build_.store();
    PythonStackId parent;
    for (const Frame& frame : outermost_first) {
      const auto row = static_cast<uint32_t>(store.python_frames.size());
      store.python_frames.Append({.file = build_.Text(frame.file),
                                  .function = build_.Text(frame.function),
                                  .line = frame.line});
      store.python_stacks.Append({.frame = PythonFrameId::At(row), .parent = parent});
      parent = PythonStackId::At(row);
    }
    return parent;
  }

  void Look(PythonStackId stack, int64_t at_ns) {
    build_.store().python_samples.Append({.start_ns = at_ns - kMs / 4,
                                          .end_ns = at_ns + kMs / 4,
                                          .thread = thread_,
                                          .python_stack = stack,
                                          .samples = 1});
  }

  StoreBuilder build_;
  ThreadId thread_;
  Store store_;
};

TEST(ModuleCallers, AreTheLinesAroundTheCall) {
  for (const bool wrapped : {false, true}) {
    const Made made(wrapped);
    const RunOverview run = BuildOverview(made.store());
    EXPECT_EQ(CallerOfModule(run, "Student"), "train.py:40");
    EXPECT_EQ(CallerOfModule(run, "teacher"), "model.py:12") << wrapped;
    EXPECT_EQ(CallerOfModule(run, "nobody"), "");
  }
}

TEST(ModuleCallers, OfModelsIsOutsideOfThem) {
  const Made made(true);
  const RunOverview run = BuildOverview(made.store());
  EXPECT_EQ(CallerOfModels(run, {{.start_ns = 0, .end_ns = 100 * kMs}}), "train.py:40");
  EXPECT_EQ(CallerOfModels(run, {}), "");
}

}  // namespace
}  // namespace batchlight::advice
