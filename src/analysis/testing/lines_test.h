// Tests of what is told by line of Python: a program of a line, its operators and their backward.
#pragma once

#include <gtest/gtest.h>

#include "analysis/testing/store_builder.h"

namespace batchlight::testing {

inline constexpr char kTrain[] = "/home/user/train.py";
inline constexpr char kModule[] = "/v/lib/python3.11/site-packages/torch/nn/modules/module.py";
inline constexpr char kOptimizer[] = "/v/lib/python3.11/site-packages/torch/optim/sgd.py";
inline constexpr char kCheckpoint[] = "/v/lib/python3.11/site-packages/torch/utils/checkpoint.py";

class LinesTest : public ::testing::Test {
 protected:
  PythonStackId Frame(const char* file, uint32_t line, PythonStackId parent = {}) {
    Store& made = build.store();
    made.python_frames.Append(
        {.file = build.Text(file), .function = build.Text("f"), .first_line = 1, .line = line});
    made.python_stacks.Append(
        {.frame = PythonFrameId::At(made.python_frames.size() - 1), .parent = parent});
    return PythonStackId::At(made.python_stacks.size() - 1);
  }

  void Operator(ThreadId thread, const char* name, int64_t start_ns, int64_t end_ns,
                PythonStackId stack = {}, int64_t sequence = -1, uint32_t forward_thread = 0,
                OperatorScope scope = OperatorScope::kFunction) {
    build.Operator(thread, name, start_ns, end_ns, sequence, forward_thread, scope);
    build.store().operator_calls.python_stack.back() = stack;
  }

  // A linear of line 10, its backward on a thread of autograd's, and the kernels of both.
  void ForwardAndBackward() {
    Operator(main, "aten::linear", 100, 200, line10);
    Operator(main, "aten::addmm", 110, 190, {}, 5);
    build.Kernel(main, "gemm", 150, 1000, 1300);
    Operator(autograd, "autograd::engine::evaluate_function: AddmmBackward0", 300, 400);
    Operator(autograd, "AddmmBackward0", 310, 390, {}, 5, 1, OperatorScope::kBackward);
    build.Kernel(autograd, "gemm_backward", 350, 1300, 1900);
  }

  StoreBuilder build;
  const ProcessId process = build.Process(100, "train.py");
  const ThreadId main = build.Thread(process);
  const ThreadId autograd = build.Thread(process);
  const PythonStackId script = Frame(kTrain, 90);
  const PythonStackId line10 = Frame(kModule, 500, Frame(kTrain, 10, script));
};

}  // namespace batchlight::testing
