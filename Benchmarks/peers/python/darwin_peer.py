"""DarwinNotify in Python, by ctypes: its inline executor calls a function of Python.

The first argument is the library."""

import ctypes
import sys

import peer

library = ctypes.CDLL(sys.argv.pop(1))
INVOKE = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)


class Handler(ctypes.Structure):
    _fields_ = [("invoke", INVOKE), ("context", ctypes.c_void_p), ("destroy", ctypes.c_void_p),
                ("reserved", ctypes.c_uint64 * 2)]


library.dn_center_darwin.restype = library.dn_executor_inline.restype = ctypes.c_void_p
library.dn_center_observe.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(Handler),
                                      ctypes.c_void_p, ctypes.c_void_p]
library.dn_center_post.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p,
                                   ctypes.c_void_p, ctypes.c_uint]


def receive(name, slot):
    invoke = INVOKE(lambda event, context: slot.note())
    if library.dn_center_observe(library.dn_center_darwin(), name.encode(), Handler(invoke),
                                 library.dn_executor_inline(), None) < 0:
        sys.exit("cannot observe")
    peer.say("ready")
    peer.await_end()


def open_post(name):
    center, name = library.dn_center_darwin(), name.encode()
    return lambda: library.dn_center_post(center, name, None, None, 0)


peer.main(receive, open_post)
