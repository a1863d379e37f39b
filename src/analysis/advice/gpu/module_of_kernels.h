// Which module some of a step's kernels begin in, forward or backward.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "analysis/run/run_measures.h"

namespace batchlight::advice {

struct ModuleOfKernels {
  StringId path;  // None: no module itself, by its own operators, has half of the weight
  StringId class_name;
  double share = 0;     // of the weight
  double ns = 0;        // that its kernels take in all steady steps
  double ns_of_ns = 0;  // the sum of their squares

  // How long the kernel takes that runs at a moment chosen at random.
  double UsualNs() const { return ns > 0 ? ns_of_ns / ns : 0; }

  // "`smooth` (Smoothing)".
  std::string Text(const Store& store) const;
};

// `weight`: of a kernel, by its row; negative: it is left out.
ModuleOfKernels FindModuleOfKernels(const RunMeasures& run,
                                    const std::function<double(size_t row)>& weight);

}  // namespace batchlight::advice
