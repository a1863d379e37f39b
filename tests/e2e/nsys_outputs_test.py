"""Where and how `batchlight stats` and `analyze` write: outputs, formats, units, the filter by time,
on a real nsys export. What is in the reports is in nsys_stats_test.py."""
import csv
import json
import os
import shutil
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from nsys_files import NsysFiles  # noqa: E402


class Outputs(NsysFiles):
    def test_console_has_data_on_stdout_and_notices_on_stderr(self):
        done = self.stats("-r", "nvtx_sum,osrt_sum", "-f", "csv")
        self.assertTrue(done.stdout.startswith(b"Time (%),"))
        self.assertNotIn(b"SKIPPED", done.stdout)
        self.assertIn(b"does not contain OS Runtime trace data.", done.stderr)

    def test_default_set_and_format(self):
        text = self.stats().stdout.decode()
        for title in ("NVTX Range Summary (nvtx_sum)", "CUDA API Summary (cuda_api_sum)",
                      "CUDA GPU Kernel Summary (cuda_gpu_kern_sum)"):
            self.assertIn(f" ** {title}:", text)

    def test_three_lists_repeat_their_last(self):
        base = os.path.join(self.folder, "lists")
        self.stats("-q", "-r", "nvtx_sum,cuda_api_sum,cuda_gpu_kern_sum:base", "-f", "csv,json",
                   "-o", base)
        self.assertEqual(sorted(name for name in os.listdir(self.folder)
                                if name.startswith("lists_")),
                         ["lists_cuda_api_sum.json", "lists_cuda_gpu_kern_sum_base.json",
                          "lists_nvtx_sum.csv"])

    def test_options_given_more_than_once(self):
        """The example of nsys's help: three reports, two formats, two outputs."""
        copy = self.path("repeated.sqlite")
        shutil.copy(self.sqlite, copy)
        done = self.run_tool("stats", "-q", "--report", "cuda_gpu_trace", "--report",
                             "cuda_gpu_kern_sum", "--report", "cuda_api_sum", "--format",
                             "csv,column", "--output", ".", "--output", "-", copy)
        with open(self.path("repeated_cuda_gpu_trace.csv"), encoding="utf-8") as trace:
            self.assertTrue(trace.readline().startswith("Start (ns),"))
        self.assertIn(b"** CUDA GPU Kernel Summary", done.stdout)
        self.assertIn(b"** CUDA API Summary", done.stdout)
        self.assertNotIn(b"** CUDA GPU Trace", done.stdout)
        done = self.run_tool("analyze", "-q", "-r", "gpu_gaps", "-r", "cuda_api_sync", "-f", "csv",
                             "-f", "json", copy)
        self.assertTrue(done.stdout.startswith(b"Row#,"))
        self.assertIn(b'"API Name": "cudaStreamSynchronize_v3020"', done.stdout)

    def test_programs_and_other_outputs_in_one_list(self):
        done = self.stats("-q", "-r", "nvtx_sum", "-f", "csv,json", "-o", "@cut -d, -f10,-")
        text = done.stdout.decode()
        self.assertEqual(text.splitlines()[:2], ["Range", ":step"])  # cut's part
        self.assertIn('"Range": ":step"', text)

    def test_beside_the_input(self):
        copy = os.path.join(self.folder, "beside.sqlite")
        shutil.copy(self.sqlite, copy)
        self.run_tool("stats", "-q", "-r", "nvtx_sum", "-o", ".", copy)
        self.assertTrue(os.path.exists(os.path.join(self.folder, "beside_nvtx_sum.csv")))

    def test_to_a_program(self):
        out = os.path.join(self.folder, "piped")
        self.stats("-r", "nvtx_sum", "-o", f"@tee {out}")
        with open(out, encoding="utf-8") as piped:
            self.assertEqual(len(piped.readlines()), 6)
        done = self.stats("-r", "nvtx_sum", "-o", "@grep -E (-|Range|step)")  # no shell
        self.assertEqual(len(done.stdout.splitlines()), 3)
        done = self.stats("-r", "nvtx_sum", "-o", "@false", code=4)
        self.assertIn(b"failed with exit code 1", done.stderr)
        done = self.stats("-r", "nvtx_sum", "-o", "@nosuchprogram", code=4)
        self.assertIn(b"cannot run nosuchprogram", done.stderr)

    def test_without_data(self):
        base = os.path.join(self.folder, "nothing")
        self.stats("-q", "-r", "osrt_sum,um_sum", "-f", "csv,json", "-o", base)
        for name in ("nothing_osrt_sum.csv", "nothing_um_sum.json"):
            self.assertEqual(os.path.getsize(os.path.join(self.folder, name)), 0)
        done = self.stats("-r", "nvtx_sum", "-f", "json", "--filter-time", "1/2")
        self.assertEqual(done.stdout, b"[\n]\n")
        self.assertIn(b"in the time asked for", done.stderr)
        done = self.stats("-r", "nvtx_sum", "-f", "csv", "--filter-time", "1/2")
        self.assertEqual(done.stdout, b"")

    def test_lists_with_blanks(self):
        base = os.path.join(self.folder, "blanks")
        self.stats("-q", "-r", "nvtx_sum,,cuda_gpu_mem_time_sum", "-f", "csv,json", "-o",
                   base + "," + base + "2")
        self.assertEqual(sorted(name for name in os.listdir(self.folder)
                                if name.startswith("blanks")),
                         ["blanks2_cuda_gpu_mem_time_sum.json", "blanks2_nvtx_sum.json",
                          "blanks_nvtx_sum.csv"])

    def test_file_names(self):
        base = os.path.join(self.folder, "name")
        self.stats("-q", "-r", "cuda_gpu_kern_sum:nvtx-name:base", "-o", base, "--filter-nvtx",
                   "step/1", "--filter-time", "1/2")
        self.stats("-q", "-r", "nvtx_sum", "-o", base, "--filter-time", "8s/")
        self.assertEqual(sorted(name for name in os.listdir(self.folder)
                                if name.startswith("name_")),
                         ["name_cuda_gpu_kern_sum_nvtx=step-1_nvtx-name_base.csv",
                          "name_nvtx_sum_start=8000000000_end=9223372036854775807.csv"])
        self.run_tool("analyze", "-q", "-r", "gpu_gaps:gap=1", "-f", "csv", "-o", base,
                      "--filter-time", "7300ms/7790ms", self.sqlite)
        path = base + "_gpu_gaps_start=7300000000_end=7790000000_gap=1.csv"
        with open(path, encoding="utf-8") as table:  # as nsys has it
            self.assertEqual([row.split(",")[1] for row in table.read().splitlines()[1:]],
                             ["446769925", "16402161", "2641267", "2120566", "1858519", "1811575",
                              "1527161"])

    def test_units(self):
        """As nsys prints them."""
        def head(form):
            return self.stats("-q", "-r", "cuda_gpu_mem_size_sum", "-f",
                              form).stdout.decode().splitlines()[:3]
        self.assertEqual(head("csv:mem=KB"), [
            "Total (KB),Count,Avg (KB),Med (KB),Min (KB),Max (KB),StdDev (KB),Operation",
            "25165.82,96,262.14,262.14,262.14,262.14,0.00,[CUDA memcpy Device-to-Device]",
            "14753.70,67,220.20,4.10,1.02,1048.58,396.84,[CUDA memcpy Host-to-Device]"])
        self.assertEqual(head("csv:bytes=KiB")[2],
                         "14407.91,67,215.04,4.00,1.00,1024.00,387.54,[CUDA memcpy Host-to-Device]")
        self.assertEqual(head("csv:mem=MiB")[2],
                         "14.070,67,0.210,0.004,0.001,1.000,0.378,[CUDA memcpy Host-to-Device]")
        self.assertEqual(head("csv:mem=GB")[1],
                         "0.025,96,0.000,0.000,0.000,0.000,0.000,[CUDA memcpy Device-to-Device]")
        self.assertEqual(head("csv:nohdrunit")[0], "Total,Count,Avg,Med,Min,Max,StdDev,Operation")
        self.assertTrue(head("csv:mem=B")[1].startswith("25165824,96,262144.0,"))
        seconds = self.stats("-q", "-r", "nvtx_sum", "-f", "csv:time=sec").stdout.decode()
        self.assertIn("Total Time (sec)", seconds)
        self.assertIn("50.0,1.5412,8,0.1927,0.0113,0.0108,1.4597,0.5120,PushPop,:step", seconds)
        mixed = self.stats("-q", "-r", "cuda_api_trace", "-f", "csv:ts=ms:dur=us").stdout.decode()
        self.assertTrue(mixed.startswith("Start (ms),Duration (us),"))
        narrow = self.stats("-q", "-r", "cuda_gpu_mem_size_sum", "-f",
                            "column:colmax=20").stdout.decode()
        self.assertIn("[CUDA memcpy Device…\n", narrow)

    def test_existing_file(self):
        base = os.path.join(self.folder, "twice")
        self.stats("-q", "-r", "nvtx_sum", "-o", base)
        done = self.stats("-q", "-r", "nvtx_sum", "-o", base, code=4)
        self.assertIn(b"--force-overwrite", done.stderr)
        self.stats("-q", "--force-overwrite", "true", "-r", "nvtx_sum", "-o", base)
        self.stats("-q", "--force-overwrite", "-r", "nvtx_sum", "-o", base)

    def test_time_units(self):
        done = self.stats("-r", "nvtx_sum", "-f", "csv", "--timeunit", "usec").stdout.decode()
        self.assertIn("Total Time (us)", done)
        self.assertIn("1541234.775", done)
        self.assertIn("1541.2348", self.stats("-r", "nvtx_sum", "-f", "csv", "--timeunit",
                                              "msec").stdout.decode())

    def test_time_filter(self):
        base = os.path.join(self.folder, "window")
        self.stats("-q", "-r", "nvtx_sum", "-f", "csv", "-o", base, "--filter-time",
                   "7900ms/7s910ms")
        path = f"{base}_nvtx_sum_start=7900000000_end=7910000000.csv"
        with open(path, encoding="utf-8") as table:
            rows = {row["Range"]: int(row["Instances"]) for row in csv.DictReader(table)}
        self.assertEqual(rows[":step"], 2)  # overlap counts, not containment

    def test_column_arguments(self):
        lines = self.stats("-r", "nvtx_sum", "-f", "column:nohdr:nofmt:8:12:0:.").stdout.decode()
        rows = [line for line in lines.splitlines() if ":step" in line]
        self.assertEqual(len(rows), 1)
        self.assertIn("1541234775", rows[0])
        self.assertNotIn("Instances", lines)

    def test_json_is_valid_and_tsv_keeps_its_columns(self):
        rows = json.loads(self.stats("-r", "cuda_gpu_kern_sum", "-f", "json").stdout)
        self.assertGreater(len(rows), 10)
        text = self.stats("-r", "cuda_gpu_kern_sum", "-f", "tsv").stdout.decode()
        self.assertEqual({line.count("\t") for line in text.rstrip("\n").splitlines()}, {8})

    def test_markdown(self):
        text = self.stats("-r", "nvtx_sum", "-f", "markdown").stdout.decode()
        self.assertTrue(text.splitlines()[1].startswith("| ---: |"))


if __name__ == "__main__":
    unittest.main()
