"""Keeps the GPU code of one compute capability in a library:  keep_capability.py FROM TO 90

The code of the others is overwritten with zeros, so that the file keeps its size and its addresses but can be compressed to a third. It is
for sending the library to one machine; CUDA looks only at code of its own capability. The layout (a header with the magic number, its own
size and that of the entries; each entry with its kind, the sizes of its header and of its content, and the capability) was read off the
files; CUDA's headers name only the magic number, in fatbinary_section.h.
"""

import struct
import sys

MAGIC = 0xBA55ED50


def section(data, wanted):
    """Offset and size of a section of a 64-bit ELF file."""
    (table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)

    def entry(index):
        name, _, _, _, offset, size = struct.unpack_from("<IIQQQQ", data, table + index * entry_size)
        return name, offset, size

    _, names, _ = entry(names_index)
    for index in range(count):
        name, offset, size = entry(index)
        if data[names + name:names + name + len(wanted) + 1] == wanted + b"\0":
            return offset, size
    raise SystemExit(f"The file has no section {wanted.decode()}.")


def main(source, target, capability):
    data = bytearray(open(source, "rb").read())
    offset, size = section(data, b".nv_fatbin")
    at, end, kept, dropped = offset, offset + size, 0, 0
    while at < end:
        magic, _, header, entries = struct.unpack_from("<IHHQ", data, at)
        if magic != MAGIC:
            at += 8
            continue
        entry, stop = at + header, at + header + entries
        while entry < stop:
            _, _, head, content = struct.unpack_from("<HHIQ", data, entry)
            (has,) = struct.unpack_from("<I", data, entry + 28)
            if has == capability:
                kept += content
            else:
                data[entry + head:entry + head + content] = bytes(content)
                dropped += content
            entry += head + content
        at = stop + -stop % 8
    if kept == 0:
        raise SystemExit(f"The file has no code for {capability}.")
    open(target, "wb").write(data)
    print(f"{kept / 1e6:.0f} MB of code kept, {dropped / 1e6:.0f} MB dropped")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
