// host_query gpu | user NAME | counters ...: asks the libraries of the machine it runs on. The tool
// is linked statically so that it starts everywhere, and cannot load any; this small dynamic
// program can, with any glibc from 2.17 on. It also keeps a crash or a hang of the driver out of
// the tool.
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/questions.h"

int main(int argc, char** argv) {
  using namespace batchlight::host;  // NOLINT(google-build-using-namespace)
  alarm(60);                         // a driver that hangs
  if (argc == 2 && strcmp(argv[1], "gpu") == 0) return PrintGpus();
  if (argc == 3 && strcmp(argv[1], "user") == 0) return PrintUser(argv[2]);
  if (argc >= 3 && strcmp(argv[1], "counters") == 0) return PrintCounters(argc - 2, argv + 2);
  if (argc >= 3 && strcmp(argv[1], "sample") == 0) return SampleGpus(argc - 2, argv + 2);
  fputs("host_query: part of batchlight, which asks it `gpu`, `user NAME`, `counters ...`\n",
        stderr);
  return kBadQuestion;
}
