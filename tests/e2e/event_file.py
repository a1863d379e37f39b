"""Reads TensorBoard's event files by their published form, and nothing of ours: TFRecord framing
(length, masked CRC-32C of it, bytes, masked CRC-32C of them) around event.proto, summary.proto,
tensor.proto and tensor_shape.proto in protobuf's wire format."""
import struct


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    """The records; ValueError where a checksum is wrong or bytes are left over."""
    while data:
        (length,) = struct.unpack_from("<Q", data)
        body = data[12:12 + length]
        sums = struct.unpack_from("<I", data, 8) + struct.unpack_from("<I", data, 12 + length)
        if sums != (masked(data[:8]), masked(body)):
            raise ValueError("wrong checksum")
        yield body
        data = data[16 + length:]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    """{field number: [values]}: int, 8 or 4 bytes unpacked as floating point, or bytes."""
    found, at = {}, 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        elif key & 7 == 5:
            value, at = struct.unpack_from("<f", data, at)[0], at + 4
        else:
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        found.setdefault(key >> 3, []).append(value)
    return found


def tensor(data):
    """(dtype, sizes, strings or bytes): TensorProto's dtype, shape, string_val or content."""
    proto = fields(data)
    shape = fields(proto[2][0]).get(2, [])
    sizes = [fields(dimension)[1][0] for dimension in shape]
    return proto[1][0], sizes, proto.get(8) or proto[4][0]


def summaries(data):
    """(tag, step, plugin or None, scalar or tensor) of every summary; the first event is checked to
    name the file's version."""
    events = [fields(record) for record in records(data)]
    if events[0][3] != [b"brain.Event:2"]:
        raise ValueError("no file version")
    for event in events[1:]:
        for summary in event[5]:
            for value in map(fields, fields(summary)[1]):
                plugin = None
                if 9 in value:  # SummaryMetadata.plugin_data.plugin_name
                    plugin = fields(fields(value[9][0])[1][0])[1][0].decode()
                content = tensor(value[8][0]) if plugin else value[2][0]
                yield value[1][0].decode(), event[2][0], plugin, content
