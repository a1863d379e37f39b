"""What speedscope's published file format asks of a file (www.speedscope.app/file-format-schema.json), and what its
importer takes for granted beyond that: balanced events in order, a weight for each sample."""
UNITS = {"none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"}
OPTIONAL = {"name": str, "activeProfileIndex": int, "exporter": str}
OF_A_FRAME = {"file": str, "line": int, "col": int}


def check(test, document):
    test.assertEqual(document["$schema"], "https://www.speedscope.app/file-format-schema.json")
    for key, value in document.items():
        test.assertIsInstance(value, OPTIONAL.get(key, object), key)
    test.assertLess(document.get("activeProfileIndex", 0), len(document["profiles"]))
    frames = document["shared"]["frames"]
    for frame in frames:
        test.assertIsInstance(frame["name"], str)
        for key in set(frame) - {"name"}:
            test.assertIsInstance(frame[key], OF_A_FRAME[key])
    for profile in document["profiles"]:
        test.assertIsInstance(profile["name"], str)
        test.assertIn(profile["unit"], UNITS)
        test.assertGreaterEqual(profile["endValue"], profile["startValue"])
        (check_events if profile["type"] == "evented" else check_samples)(test, profile, len(frames))


def check_events(test, profile, frame_count):
    test.assertEqual(profile["type"], "evented")
    stack, at = [], profile["startValue"]
    for event in profile["events"]:
        test.assertGreaterEqual(event["at"], at)
        at = event["at"]
        test.assertIn(event["frame"], range(frame_count))
        test.assertIn(event["type"], ("O", "C"))
        if event["type"] == "O":
            stack.append(event["frame"])
        else:
            test.assertEqual(stack.pop(), event["frame"])
    test.assertEqual(stack, [])
    test.assertLessEqual(at, profile["endValue"])


def check_samples(test, profile, frame_count):
    test.assertEqual(profile["type"], "sampled")
    test.assertEqual(len(profile["samples"]), len(profile["weights"]))
    for frame in {frame for sample in profile["samples"] for frame in sample}:
        test.assertIn(frame, range(frame_count))
    test.assertGreaterEqual(min(profile["weights"], default=0), 0)
    test.assertEqual(sum(profile["weights"]), profile["endValue"] - profile["startValue"])
