"""A range of the program starts and ends a capture."""

import inject_case
from inject_case import NVTX_KINDS, InjectCase


class CaptureRangeTest(InjectCase):
    def test_capture_range(self):
        members = dict(state=0, trigger=1, capture_message="profile me", capture_domain="app",
                       capture_registered_only=1)
        folder = self.session(capture_repeat=2, **members)
        self.run_client(folder, "capture")
        process = self.only_process(folder)
        self.assertEqual(folder.get("captures_done"), 2)
        self.assertEqual(folder.get("state"), 1 << 1)
        self.assertEqual(folder.get("changes"), 4)
        self.assertEqual({chunk.capture_index for chunk in process.chunks}, {0, 1})
        for capture in (0, 1):
            chunks = [c for c in process.chunks if c.capture_index == capture]
            records = [record for chunk in chunks for record in chunk.records]
            # What was said before any capture is in each of them.
            self.assertEqual([r.kind for r in records][:3],
                             ["ProcessStart", "ClockSync", "DomainLife"])
            self.assertEqual([r.name for r in records if r.kind == "CategoryName"],
                             ["said before"])
            self.assertEqual(
                [(r.kind, r.get("message", r.get("on"))) for r in records
                 if r.kind in NVTX_KINDS or r.kind == "CaptureWindow"],
                [("CaptureWindow", 1), ("RangePushEx", "profile me"),
                 ("RangePushEx", "profile me"), ("Mark", "inside"), ("RangePopDomain", None),
                 ("RangePopDomain", None), ("CaptureWindow", 0)])

    def test_capture_to_the_end(self):
        folder = self.session(state=0, trigger=1, capture_message="profile me", capture_domain="*",
                              range_end_ignored=1)
        self.run_client(folder, "capture")
        self.assertEqual((folder.get("captures_done"), folder.get("state")), (0, 1))
        messages = [event.get("message") for event in self.only_process(folder).records(*NVTX_KINDS)]
        self.assertEqual(messages.count("inside"), 4)
        self.assertEqual(messages.count("outside"), 3)


if __name__ == "__main__":
    inject_case.main()
