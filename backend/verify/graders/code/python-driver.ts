/**
 * Runs a Python program that reads standard input, or calls one of its functions. The arguments are the program's file, "program" or
 * "call", and the function's name.
 *
 * As in LiveCodeBench's checker (`lcb_runner/evaluation/testing_util.py`), the usual modules are already imported, any SystemExit may end
 * the program, and the function may be a method of `class Solution`. Each line of the input is a call: the JSON of a string whose lines are
 * the JSON of the arguments. Each result is written as one line of JSON before the next call. Results of types that JSON lacks are
 * rejected. Other output of the program is discarded.
 *
 * Nothing here defends against the program, which can rewrite all of it. The defence is that it does not know the expected results.
 */
export const PYTHON_DRIVER = String.raw`
import json, os, sys

file, mode, name = (sys.argv[1:] + [None])[:3]
with open(file, encoding="utf-8") as handle:
    source = handle.read()

PRELUDE = """
from string import *
from re import *
from datetime import *
from collections import *
from heapq import *
from bisect import *
from copy import *
from math import *
from random import *
from statistics import *
from itertools import *
from functools import *
from operator import *
from io import *
from sys import *
from json import *
from builtins import *
from typing import *
import string, re, datetime, collections, heapq, bisect, copy, math, random, statistics
import itertools, functools, operator, io, sys, json
sys.setrecursionlimit(50000)
"""

def refused(value):
    raise TypeError("the result holds a " + type(value).__name__ + ", which no expected result is")

def plain(value, depth=0):
    if depth > 200:
        refused(value)
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value)
    if isinstance(value, list) or (depth == 0 and isinstance(value, tuple)):
        return [plain(item, depth + 1) for item in value]
    if isinstance(value, dict):
        return {key if isinstance(key, str) else refused(key): plain(item, depth + 1) for key, item in value.items()}
    if type(value).__module__ == "numpy" and hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return plain(value.item(), depth + 1)
    refused(value)

if hasattr(sys, "set_int_max_str_digits"):
    sys.set_int_max_str_digits(0)
sys.argv = [file]
space = {"__name__": "__main__", "__builtins__": __builtins__, "__file__": file}

if mode == "program":
    exec(PRELUDE, space)
    try:
        exec(compile(source, "program.py", "exec"), space)
    except SystemExit:
        pass
else:
    calls = [json.loads(line) for line in sys.stdin.read().split("\n")]
    result = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    exec(PRELUDE, space)
    # Not "__main__": code under that check is the author's own trial.
    space["__name__"] = "solution"
    exec(compile(source, "program.py", "exec"), space)
    for given in calls:
        owner = space["Solution"]() if "class Solution" in source and "Solution" in space else None
        function = getattr(owner, name) if owner is not None else space[name]
        json.dump(plain(function(*[json.loads(argument) for argument in given.split("\n")])), result)
        result.write("\n")
        result.flush()
    os._exit(0)
`;
