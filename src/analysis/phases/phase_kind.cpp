#include "analysis/phases/phase_kind.h"

#include <cctype>
#include <string>

namespace batchlight {
namespace {

struct Texts {
  std::string_view name;
  std::string_view key;
};

// By number.
constexpr Texts kTexts[] = {
#define PHASE_KIND(Name, name, key) {name, key},
#include "analysis/phases/phase_kinds.def"
#undef PHASE_KIND
};

struct NameRule {
  std::string_view name;  // a trailing * stands for any rest
  PhaseKind kind;
};

// The first match counts. Names are compared in lower case, with other characters than letters
// made to one '_', and without numbers at the end.
constexpr NameRule kRules[] = {
    {"dataloader*", PhaseKind::kDataLoading},
    {"data_loader*", PhaseKind::kDataLoading},
    {"data_loading*", PhaseKind::kDataLoading},
    {"dataloading*", PhaseKind::kDataLoading},
    {"data_load", PhaseKind::kDataLoading},
    {"data_fetch", PhaseKind::kDataLoading},
    {"data_time", PhaseKind::kDataLoading},
    {"data_wait", PhaseKind::kDataLoading},
    {"data", PhaseKind::kDataLoading},
    {"load_data", PhaseKind::kDataLoading},
    {"load_batch", PhaseKind::kDataLoading},
    {"get_batch", PhaseKind::kDataLoading},
    {"get_train_batch", PhaseKind::kDataLoading},
    {"next_batch", PhaseKind::kDataLoading},
    {"fetch_batch", PhaseKind::kDataLoading},
    {"batch_fetch", PhaseKind::kDataLoading},
    {"batch_load*", PhaseKind::kDataLoading},
    {"enumerate_dataloader*", PhaseKind::kDataLoading},
    {"batch_to_device", PhaseKind::kCopyToDevice},
    {"batch_to_gpu", PhaseKind::kCopyToDevice},
    {"data_to_device", PhaseKind::kCopyToDevice},
    {"data_to_gpu", PhaseKind::kCopyToDevice},
    {"to_device", PhaseKind::kCopyToDevice},
    {"to_gpu", PhaseKind::kCopyToDevice},
    {"copy_to_device", PhaseKind::kCopyToDevice},
    {"copy_to_gpu", PhaseKind::kCopyToDevice},
    {"copy_h_d", PhaseKind::kCopyToDevice},
    {"h_d", PhaseKind::kCopyToDevice},  // H2D
    {"h_d_copy", PhaseKind::kCopyToDevice},
    {"host_to_device", PhaseKind::kCopyToDevice},
    {"data_transfer", PhaseKind::kCopyToDevice},
    {"zero_grad*", PhaseKind::kZeroGrad},
    {"optimizer_zero_grad*", PhaseKind::kZeroGrad},
    {"optim_zero_grad*", PhaseKind::kZeroGrad},
    {"forward", PhaseKind::kForward},
    {"forward_pass", PhaseKind::kForward},
    {"forward_step", PhaseKind::kForward},
    {"model_forward", PhaseKind::kForward},
    {"fwd", PhaseKind::kForward},
    {"fwd_pass", PhaseKind::kForward},
    {"loss", PhaseKind::kLoss},
    {"compute_loss", PhaseKind::kLoss},
    {"loss_computation", PhaseKind::kLoss},
    {"criterion", PhaseKind::kLoss},
    {"backward", PhaseKind::kBackward},
    {"backward_pass", PhaseKind::kBackward},
    {"backward_step", PhaseKind::kBackward},
    {"loss_backward", PhaseKind::kBackward},
    {"backprop*", PhaseKind::kBackward},
    {"bwd", PhaseKind::kBackward},
    {"bwd_pass", PhaseKind::kBackward},
    {"all_reduce*", PhaseKind::kCommunication},
    {"allreduce*", PhaseKind::kCommunication},
    {"all_gather*", PhaseKind::kCommunication},
    {"allgather*", PhaseKind::kCommunication},
    {"reduce_scatter*", PhaseKind::kCommunication},
    {"nccl*", PhaseKind::kCommunication},
    {"gloo*", PhaseKind::kCommunication},
    {"c_d_*", PhaseKind::kCommunication},  // c10d::
    {"grad_sync", PhaseKind::kCommunication},
    {"gradient_sync*", PhaseKind::kCommunication},
    {"sync_gradients", PhaseKind::kCommunication},
    {"optimizer", PhaseKind::kOptimizer},
    {"optimizer_step*", PhaseKind::kOptimizer},
    {"optimizer_update", PhaseKind::kOptimizer},
    {"optim", PhaseKind::kOptimizer},
    {"optim_step", PhaseKind::kOptimizer},
    {"opt_step", PhaseKind::kOptimizer},
    {"opt", PhaseKind::kOptimizer},
    {"weight_update", PhaseKind::kOptimizer},
    {"param_update", PhaseKind::kOptimizer},
    {"parameter_update", PhaseKind::kOptimizer},
    {"torch_compile*", PhaseKind::kCompile},
    {"rollout*", PhaseKind::kRollout},
    {"collect_rollout*", PhaseKind::kRollout},
    {"collect_experience", PhaseKind::kRollout},
    {"collect_trajector*", PhaseKind::kRollout},
    {"validation*", PhaseKind::kValidation},
    {"validate", PhaseKind::kValidation},
    {"valid", PhaseKind::kValidation},
    {"val", PhaseKind::kValidation},
    {"val_epoch", PhaseKind::kValidation},
    {"val_step", PhaseKind::kValidation},
    {"eval", PhaseKind::kValidation},
    {"eval_epoch", PhaseKind::kValidation},
    {"eval_step", PhaseKind::kValidation},
    {"evaluate", PhaseKind::kValidation},
    {"evaluation", PhaseKind::kValidation},
    {"checkpoint", PhaseKind::kCheckpoint},
    {"save_checkpoint", PhaseKind::kCheckpoint},
    {"checkpoint_save", PhaseKind::kCheckpoint},
    {"save_model", PhaseKind::kCheckpoint},
};

// "Batch to-device 12" -> "batch_to_device". Digits inside become '_' too: "H2D" -> "h_d".
std::string Plain(std::string_view name) {
  std::string plain;
  for (const char raw : name.substr(0, 64)) {
    const char c = static_cast<char>(std::tolower(static_cast<unsigned char>(raw)));
    if (c >= 'a' && c <= 'z') {
      plain += c;
    } else if (!plain.empty() && plain.back() != '_') {
      plain += '_';
    }
  }
  while (!plain.empty() && plain.back() == '_') plain.pop_back();
  return plain;
}

}  // namespace

PhaseKind PhaseOfRangeName(std::string_view name) {
  const std::string plain = Plain(name);
  for (const NameRule& rule : kRules) {
    if (rule.name.back() == '*') {
      if (plain.starts_with(rule.name.substr(0, rule.name.size() - 1))) return rule.kind;
    } else if (plain == rule.name) {
      return rule.kind;
    }
  }
  return PhaseKind::kOther;
}

std::string_view PhaseKindName(PhaseKind kind) { return kTexts[static_cast<size_t>(kind)].name; }

std::string_view PhaseKindKey(PhaseKind kind) { return kTexts[static_cast<size_t>(kind)].key; }

}  // namespace batchlight
