#include "analysis/lines/source_place.h"

#include <algorithm>

namespace batchlight {
namespace {

constexpr std::string_view kOwnFolder = "/batchlight/_bridge/";

bool Has(std::string_view text, std::string_view part) { return text.find(part) != text.npos; }

// ".../lib/python3.11/..." or ".../python311.zip/...": the standard library and, below it,
// packages.
bool IsInPythonsLibrary(std::string_view file) {
  constexpr std::string_view kLibrary = "/lib/python3";
  const size_t at = file.find(kLibrary);
  if (at != file.npos) {
    const std::string_view rest = file.substr(at + kLibrary.size());
    return rest.starts_with('.') || rest.starts_with('/');
  }
  return Has(file, "/lib64/python3.") || (Has(file, "/python3") && Has(file, ".zip/"));
}

}  // namespace

SourceOwner OwnerOfSource(std::string_view file) {
  if (file.empty()) return SourceOwner::kNobody;
  if (IsRecorder(file)) return SourceOwner::kNobody;
  if (file.starts_with("<frozen ")) return SourceOwner::kPython;
  const bool installed = Has(file, "/site-packages/") || Has(file, "/dist-packages/");
  if (Has(file, "-packages/torch/") || Has(file, "-packages/torch/_")) return SourceOwner::kPyTorch;
  if (Has(file, "/torchinductor_")) return SourceOwner::kPyTorch;  // generated
  if (installed) return SourceOwner::kPackage;
  if (IsInPythonsLibrary(file)) return SourceOwner::kPython;
  return SourceOwner::kUser;
}

bool IsRecorder(std::string_view file) { return Has(file, kOwnFolder) || file == "<batchlight>"; }

bool IsCheckpointing(std::string_view file) { return file.ends_with("/torch/utils/checkpoint.py"); }

bool IsOptimizer(std::string_view file) { return Has(file, "-packages/torch/optim/"); }

bool IsDataLoader(std::string_view file) { return Has(file, "-packages/torch/utils/data/"); }

bool IsImporting(std::string_view file) { return file.starts_with("<frozen importlib"); }

std::string_view InstalledModule(std::string_view file) {
  std::string_view rest;
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    if (const size_t at = file.rfind(folder); at != file.npos) {
      rest = file.substr(at + folder.size());
    }
  }
  if (rest.empty()) {
    const size_t at = file.rfind("/python3.");
    const size_t end = at == file.npos ? at : file.find('/', at + 1);
    if (end == file.npos) return "";
    rest = file.substr(end + 1);
  }
  rest = rest.substr(0, rest.find('/'));
  return rest.ends_with(".py") ? rest.substr(0, rest.size() - 3) : rest;
}

std::string_view ShortFile(std::string_view file) {
  if (const size_t at = file.rfind(kOwnFolder); at != file.npos) {
    // The recorder's own modules are named <FILE> (python/batchlight/_start.py).
    if (file.ends_with('>')) file.remove_suffix(1);
    return file.substr(at + 1);
  }
  if (file.starts_with('<')) return file;
  const size_t slash = file.rfind('/');
  return slash == file.npos ? file : file.substr(slash + 1);
}

}  // namespace batchlight
