#include "analysis/lines/source_place.h"

#include <algorithm>

namespace batchlight {
namespace {

constexpr std::string_view kOwnFolder = "/batchlight/_bridge/";
constexpr std::string_view kLibraryFolders = "python.library_folders";  // with ':' between two

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

// What lies behind the folder that packages are installed in; "": the file is in none.
std::string_view InPackages(const Store& store, std::string_view file) {
  for (const std::string_view folder : {"/site-packages/", "/dist-packages/"}) {
    if (const size_t at = file.rfind(folder); at != file.npos) {
      return file.substr(at + folder.size());
    }
  }
  std::string_view folders = store.Property(kLibraryFolders);
  while (!folders.empty()) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string_view folder = folders.substr(0, end);
    if (!folder.empty() && file.starts_with(folder) && file.substr(end).starts_with('/')) {
      return file.substr(end + 1);
    }
    folders.remove_prefix(std::min(end + 1, folders.size()));
  }
  return "";
}

}  // namespace

SourceOwner OwnerOfSource(const Store& store, std::string_view file) {
  if (file.empty()) return SourceOwner::kNobody;
  if (IsRecorder(file)) return SourceOwner::kNobody;
  if (file.starts_with("<frozen ")) return SourceOwner::kPython;
  const std::string_view package = InPackages(store, file);
  if (package.starts_with("torch/")) return SourceOwner::kPyTorch;
  if (Has(file, "/torchinductor_")) return SourceOwner::kPyTorch;  // generated
  if (!package.empty()) return SourceOwner::kPackage;
  if (IsInPythonsLibrary(file)) return SourceOwner::kPython;
  return SourceOwner::kUser;
}

bool IsRecorder(std::string_view file) { return Has(file, kOwnFolder) || file == "<batchlight>"; }

bool IsCheckpointing(std::string_view file) { return file.ends_with("/torch/utils/checkpoint.py"); }

bool IsOptimizer(std::string_view file) { return Has(file, "/torch/optim/"); }

bool IsDataLoader(std::string_view file) { return Has(file, "/torch/utils/data/"); }

bool IsImporting(std::string_view file) { return file.starts_with("<frozen importlib"); }

std::string_view InstalledModule(const Store& store, std::string_view file) {
  std::string_view rest = InPackages(store, file);
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
