"""Quantises a GGUF file with the llama.cpp of node-llama-cpp:  quantize_gguf.py IN.gguf Q4_0|Q4_1|Q4_K_M OUT.gguf
The output layer is in 8 bits, as ours is, but where the form has a rule of its own for it (Q4_K_M).
"""
import ctypes
import pathlib
import sys

FORMS = {'Q4_0': (2, 8), 'Q4_1': (3, 8), 'Q4_K_M': (15, None)}


class Parameters(ctypes.Structure):
    """llama_model_quantize_params: the first fields, and room for the rest."""
    _fields_ = [(name, ctypes.c_int32) for name in ('threads', 'form', 'output', 'embedding')] + [('rest', ctypes.c_char * 240)]


source, form, target = sys.argv[1:]
folder = pathlib.Path(__file__).parent / 'node_modules/@node-llama-cpp/linux-x64/bins/linux-x64'
for library in ('libggml-base.so', 'libggml.v0.4.0.so', 'libllama.v0.4.0.so'):
    llama = ctypes.CDLL(str(folder / library), mode=ctypes.RTLD_GLOBAL)
llama.llama_model_quantize_default_params.restype = Parameters
llama.llama_model_quantize.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.POINTER(Parameters)]
llama.llama_backend_init()
parameters = llama.llama_model_quantize_default_params()
parameters.form, output = FORMS[form]
parameters.threads = 2
if output is not None:
    parameters.output = parameters.embedding = output
sys.exit(llama.llama_model_quantize(source.encode(), target.encode(), ctypes.byref(parameters)))
