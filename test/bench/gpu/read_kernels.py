"""Prints the CUDA kernels that a build of onnxruntime registers:  read_kernels.py libonnxruntime_providers_cuda.so [OPERATOR ...]

Nothing is loaded and no GPU is needed: the registrations are read from the machine code (x86-64, with binutils' objdump). Each is a chain of
calls through the table of functions that onnxruntime's core hands to a provider (core/providers/shared_library/provider_interfaces.h): the
builder is made, types and places of its arguments are set, then name, domain and versions, then it is built. SLOTS are the places of these
functions in the table of onnxruntime 1.30.0. Another version moves them; a name that is not printable is how one notices.

One line a registration: operator, domain, versions, types by constraint, arguments on the CPU. A list of types that is made elsewhere is `list`.
"""

import bisect
import re
import subprocess
import sys

MADE, NAME, DOMAIN, SINCE, SINCE_UNTIL = 0xAF8, 0xB08, 0xB10, 0xB18, 0xB20
TYPE, TYPES, INPUT_MEMORY, OUTPUT_MEMORY, BUILT = 0xB30, 0xB38, 0xB40, 0xB50, 0xB90
ELEMENTS = {
    0xCA8: "bool", 0xCB0: "int8", 0xCB8: "uint8", 0xCC0: "int16", 0xCC8: "uint16", 0xCD0: "int32", 0xCD8: "uint32", 0xCE0: "int64",
    0xCE8: "uint64", 0xCF0: "float32", 0xCF8: "float64", 0xD00: "bfloat16", 0xD08: "float16", 0xD10: "float8e4m3fn",
}
LISTS = range(0xDA0, 0xF00)
ON_CPU = -2

LINE = re.compile(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)")
TEXT = re.compile(r",%rdx\s+# ([0-9a-f]+)")
NUMBER = re.compile(r"\$0x([0-9a-f]+),%(ecx|edx)$")
THROUGH_TABLE = re.compile(r"\*0x([0-9a-f]+)\(%r")
LOADED = re.compile(r"0x([0-9a-f]+)\(%rax\),%rax$")


def calls(library):
    """(address, slot or None, function or None, rdx, ecx, edx) of every call, with what the registers were last set to."""
    code = subprocess.Popen(["objdump", "-d", "--no-show-raw-insn", library], stdout=subprocess.PIPE, text=True)
    text, register = None, {"ecx": None, "edx": None}
    for line in code.stdout:
        found = LINE.match(line)
        if not found:
            continue
        address, operation, arguments = int(found[1], 16), found[2], found[3]
        if operation == "lea" and (place := TEXT.search(arguments)):
            text = int(place[1], 16)
        elif operation == "mov" and (slot := LOADED.match(arguments)):
            yield address, int(slot[1], 16), None, text, None, None
        elif operation == "mov" and (number := NUMBER.match(arguments)):
            register[number[2]] = int(number[1], 16)
        elif operation == "xor" and arguments in ("%ecx,%ecx", "%edx,%edx"):
            register[arguments[1:4]] = 0
        elif operation in ("call", "jmp"):
            if slot := THROUGH_TABLE.match(arguments):
                yield address, int(slot[1], 16), None, text, register["ecx"], register["edx"]
            elif operation == "call" and (target := re.match(r"([0-9a-f]+) ", arguments)):
                yield address, None, int(target[1], 16), text, None, None


def registrations(library):
    content = open(library, "rb")

    def string(address):
        # Addresses of constants are their places in the file.
        content.seek(address)
        return content.read(80).split(b"\0")[0].decode("latin1")

    events = list(calls(library))
    addresses = [event[0] for event in events]

    def element_of(function):
        """Small functions that do nothing but ask the table for a type."""
        first = bisect.bisect_left(addresses, function)
        for address, slot, *_ in events[first:first + 6]:
            if address - function > 0x60:
                return None
            if slot in ELEMENTS:
                return ELEMENTS[slot]
        return None

    kernel, elements = None, []
    for _, slot, function, rdx, ecx, edx in events:
        if slot == MADE:
            kernel, elements = {"types": {}, "inputs": [], "outputs": []}, []
        elif kernel is None:
            continue
        elif function is not None:
            element = "versions" not in kernel and element_of(function)
            if element:
                elements.append(element)
        elif slot in ELEMENTS:
            elements.append(ELEMENTS[slot])
        elif slot in (TYPE, TYPES):
            kernel["types"][string(rdx)] = elements or ["list"]
            elements = []
        elif slot in LISTS:
            elements = ["list"]
        elif slot in (INPUT_MEMORY, OUTPUT_MEMORY) and edx is not None and edx - 2**32 == ON_CPU:
            kernel["inputs" if slot == INPUT_MEMORY else "outputs"].append(ecx)
        elif slot == NAME:
            kernel["name"] = string(rdx)
        elif slot == DOMAIN:
            kernel["domain"] = string(rdx) or "onnx"
        elif slot == SINCE:
            kernel["versions"] = f"{edx}+"
        elif slot == SINCE_UNTIL:
            kernel["versions"] = f"{edx}-{ecx}"
        elif slot == BUILT:
            yield kernel
            kernel = None


def main():
    library, *wanted = sys.argv[1:]
    lines = set()
    for kernel in registrations(library):
        if wanted and kernel["name"] not in wanted:
            continue
        types = " ".join(f"{name}={','.join(elements)}" for name, elements in kernel["types"].items())
        places = "".join(f" {side} {','.join(map(str, kernel[side]))} on the CPU" for side in ("inputs", "outputs") if kernel[side])
        lines.add(f"{kernel['name']} {kernel['domain']} {kernel['versions']} {types}{places}")
    print("\n".join(sorted(lines)))


main()
