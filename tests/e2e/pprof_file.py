"""A file of pprof (profile.proto), read as any reader of protobuf reads it."""
import collections
import glob
import os
import subprocess

PPROF = next(iter(glob.glob("/usr/lib/go-*/pkg/tool/*/pprof")), None)  # golang-1.19-go


def fields(message):
    """Number of a field -> its values, of a message in protobuf's encoding."""
    found, at = collections.defaultdict(list), 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(message):
        key = varint()
        value = varint()
        if key & 7 == 2:
            at += value
            value = message[at - value:at]
        found[key >> 3].append(value)
    return found


class Profile:
    def __init__(self, message):
        profile = fields(message)
        texts = [text.decode() for text in profile[6]]
        assert texts[0] == ""
        self.types = [[texts[kind[1][0]], texts[kind[2][0]]] for kind in map(fields, profile[1])]
        functions = {function[1][0]: (texts[function[2][0]], texts[function[4][0]])
                     for function in map(fields, profile[5])}
        places = {}
        for location in map(fields, profile[4]):
            line = fields(location[4][0])
            assert location[1][0] not in places
            places[location[1][0]] = functions[line[1][0]] + (line[2][0],)
        # [([(function, file, line), innermost first], values, {label: text})]
        self.samples = [([places[place] for place in sample[1]], sample[2],
                         {texts[label[1][0]]: texts[label[2][0]] for label in map(fields, sample[3])})
                        for sample in map(fields, profile[2])]

    def total(self, value=0):
        return sum(values[value] for _, values, _ in self.samples)


def shown(test, path, *words):
    """What Go's pprof prints of a file; it complains of nothing."""
    done = subprocess.run([PPROF, *words, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=dict(os.environ, PPROF_TMPDIR=os.path.dirname(path)), timeout=300)
    test.assertEqual((done.returncode, done.stderr), (0, ""))
    return done.stdout
