#include "base/terminal.h"

#include <io.h>
#include <windows.h>

namespace batchlight {

int TerminalColumns(std::FILE* file) {
  const auto handle = reinterpret_cast<HANDLE>(_get_osfhandle(_fileno(file)));
  CONSOLE_SCREEN_BUFFER_INFO info{};
  return GetConsoleScreenBufferInfo(handle, &info) ? info.srWindow.Right - info.srWindow.Left + 1
                                                   : 0;
}

// Nothing is started here whose output others hold up.
bool WritePatiently(std::FILE* file, std::string_view text, int) {
  return std::fwrite(text.data(), 1, text.size(), file) == text.size() && std::fflush(file) == 0;
}

}  // namespace batchlight
