// Python interpreters in PATH, their PyTorch, and whether operators can be recorded in them.
#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "base/child.h"
#include "capture/machine/machine_check.h"
#include "capture/program/host_query.h"
#include "capture/program/python_verb.h"

namespace batchlight::capture {
namespace {

// Prints key=value lines. Imports no PyTorch, which takes seconds, and nothing from the present
// folder, which may be anybody's.
constexpr char kProbe[] = R"(
import sys
if sys.path[:1] == [""]:
    del sys.path[0]
import os, platform
print("path=" + sys.executable)
print("prefix=" + sys.prefix)
print("implementation=" + platform.python_implementation())
print("version=%d.%d.%d" % sys.version_info[:3])
import sysconfig
print("free_threaded=%d" % bool(sysconfig.get_config_var("Py_GIL_DISABLED")))
import importlib.util as u
spec = u.find_spec("torch")
if spec and spec.submodule_search_locations:
    folder = list(spec.submodule_search_locations)[0]
    facts = {}
    try:
        exec(open(os.path.join(folder, "version.py")).read(), facts)
    except Exception:
        pass
    print("torch=" + str(facts.get("__version__", "?")))
    print("torch_cuda=" + str(facts.get("cuda") or ""))
    places = [os.path.join(folder, "include"), os.path.join(sys.prefix, "include"), "/usr/include"]
    print("torch_headers=%d" % any(os.path.exists(p + "/ATen/record_function.h") for p in places))
)";

using PythonFacts = std::map<std::string, std::string>;

PythonFacts Probe(const std::string& python) {
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  const ChildOutput output = RunAndRead({.words = {"timeout", "20", python, "-c", kProbe},
                                         .error_fd = nothing,
                                         .variables = {{"PYTHONPATH", PythonPathOfOurs()}}});
  if (nothing >= 0) close(nothing);
  const PrintedLines lines = ReadPrintedLines(output.text);
  return {lines.begin(), lines.end()};
}

bool HasCompiler() {
  const char* chosen = std::getenv("CXX");
  if (chosen != nullptr && !FindOwnProgram(chosen).empty()) return true;
  for (const char* name : {"c++", "g++", "clang++"}) {
    if (!FindOwnProgram(name).empty()) return true;
  }
  return false;
}

// `command`: the name in PATH; pyenv's may be a script, the path is that of the interpreter it
// runs.
Check JudgePython(const std::string& command, const PythonFacts& facts) {
  const std::string& version = facts.at("version");
  const std::string name =
      command + " is " + facts.at("implementation") + " " + version + ", " + facts.at("path");
  int minor = 0;
  const bool python3 = std::sscanf(version.c_str(), "3.%d", &minor) == 1;
  if (facts.at("implementation") != "CPython" || !python3 || minor < 8) {
    return {"Python", Finding::kNote, name + ": only its processes and NVTX ranges are recorded",
            "modules, operators and phases need CPython 3.8 or newer"};
  }
  const bool free_threaded = facts.count("free_threaded") != 0 && facts.at("free_threaded") == "1";
  if (minor > (free_threaded ? 13 : 14)) {
    return {"Python", Finding::kNote,
            name + (free_threaded ? ", free-threaded" : "") +
                ": no samples, and no lines of operators and of memory",
            "frames of CPython 3.8 to 3.14 are known, of 3.13 without a GIL, too"};
  }
  return {"Python", Finding::kGood, name, ""};
}

Check JudgeTorch(const PythonFacts& facts, bool compiler) {
  const std::string cuda = facts.count("torch_cuda") != 0 ? facts.at("torch_cuda") : "";
  const std::string name = "PyTorch " + facts.at("torch") + " of Python " + facts.at("version") +
                           (cuda.empty() ? ", built without CUDA" : ", CUDA " + cuda);
  if (facts.at("torch_headers") != "1") {
    return {"PyTorch", Finding::kMissing,
            name +
                ": its headers are missing, so modules and phases "
                "are recorded, operators are not",
            "install libtorch-dev (Debian), or PyTorch from its own wheel"};
  }
  if (!compiler) {
    return {"PyTorch", Finding::kMissing,
            name +
                ": without a C++ compiler modules and phases are "
                "recorded, operators are not",
            "install g++ (Debian: apt-get install g++)"};
  }
  return {"PyTorch", Finding::kGood, name + ": modules, phases and operators", ""};
}

}  // namespace

std::vector<Check> CheckPython() {
  std::vector<Check> checks;
  std::set<std::string> seen;
  bool any_torch = false;
  const bool compiler = HasCompiler();
  std::vector<std::string> names = {"python3", "python"};
  for (int minor = 8; minor <= 15; ++minor) names.push_back("python3." + std::to_string(minor));
  for (const std::string& name : names) {
    const std::string path = FindOwnProgram(name);
    if (path.empty()) continue;
    const PythonFacts facts = Probe(path);
    if (facts.count("version") == 0 || !seen.insert(facts.at("prefix")).second) continue;
    checks.push_back(JudgePython(name, facts));
    if (facts.count("torch") != 0) {
      any_torch = true;
      checks.push_back(JudgeTorch(facts, compiler));
    }
  }
  if (seen.empty()) {
    checks.push_back({"Python", Finding::kNote, "no python3 in PATH", ""});
  } else if (!any_torch) {
    checks.push_back({"PyTorch", Finding::kNote, "none of these Pythons has PyTorch",
                      "activate the environment that has it, and ask again"});
  }
  return checks;
}

}  // namespace batchlight::capture
