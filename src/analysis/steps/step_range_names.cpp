#include "analysis/steps/step_range_names.h"

#include <cctype>
#include <string>

namespace batchlight {

RangeName SplitRangeName(std::string_view name) {
  RangeName split;
  bool number_done = false;
  for (size_t i = 0; i < name.size() && split.base.size() < 80;) {
    const unsigned char c = static_cast<unsigned char>(name[i]);
    if (std::isdigit(c)) {
      int64_t value = 0;
      for (; i < name.size() && std::isdigit(static_cast<unsigned char>(name[i])); ++i) {
        if (value < INT64_MAX / 10 - 9) value = value * 10 + (name[i] - '0');
      }
      split.base += '#';
      // "epoch 1 step 20": the number behind the last word names the step; "3/100" is step 3.
      const bool after_word = split.base.size() > 1 && !number_done;
      if (after_word || split.number < 0) split.number = value;
      number_done = true;
      continue;
    }
    if (std::isalpha(c) || c >= 0x80) {
      split.base += static_cast<char>(std::tolower(c));
      number_done = false;
    } else if (!split.base.empty() && split.base.back() != '_') {
      split.base += '_';
    }
    ++i;
  }
  while (!split.base.empty() && split.base.back() == '_') split.base.pop_back();
  return split;
}

bool IsStepRangeName(std::string_view base) {
  while (!base.empty() && (base.back() == '#' || base.back() == '_')) base.remove_suffix(1);
  if (base.starts_with("epoch_#_")) base.remove_prefix(8);
  constexpr std::string_view kNames[] = {"step",
                                         "train_step",
                                         "training_step",
                                         "trainstep",
                                         "iteration",
                                         "iter",
                                         "train_iter",
                                         "train_iteration",
                                         "batch",
                                         "train_batch",
                                         "training_batch",
                                         "minibatch",
                                         "mini_batch",
                                         "profilerstep",
                                         "global_step",
                                         "training_loop_step",
                                         "run_training_batch",
                                         "train_one_batch",
                                         "train_one_step",
                                         "pl_profile_run_training_batch"};
  for (const std::string_view known : kNames) {
    if (base == known) return true;
  }
  return false;
}

}  // namespace batchlight
