"""What memory_profiler's mprof reads of a file of its own form, as JSON."""
import json
import sys

import mprof

print(json.dumps(mprof.read_mprofile_file(sys.argv[1])))
