#include "capture/program/install.h"

#include <unistd.h>

#include <climits>
#include <cstdlib>

#include "base/file.h"

namespace batchlight::capture {

Result<Install> FindInstall() {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  if (length <= 0 || length == sizeof path) {
    return InputError("cannot read /proc/self/exe: is /proc mounted?");
  }
  Install install;
  install.prefix.assign(path, static_cast<size_t>(length));
  for (int level = 0; level < 2; ++level) {  // the program's name, then bin
    install.prefix.resize(install.prefix.rfind('/'));
  }
  install.inject_library = install.prefix + "/lib/libbatchlight_inject.so";
  install.osrt_library = install.prefix + "/lib/libbatchlight_osrt.so";
  install.memory_library = install.prefix + "/lib/libbatchlight_memory.so";
  install.timers_library = install.prefix + "/lib/libbatchlight_timers.so";
  install.host_query = install.prefix + "/lib/batchlight/host_query";
  install.python_folder = install.prefix + "/share/batchlight/python";
  if (!FileExists(install.inject_library)) {
    return InputError(install.inject_library +
                      " is missing: copy the whole installation, not only bin/batchlight");
  }
  return install;
}

}  // namespace batchlight::capture
