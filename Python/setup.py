"""Builds the package; pyproject.toml describes it."""
import os
import re

from setuptools import setup

# It is one number with that of the C library, whose headers are also in a source distribution.
from build_native import INCLUDE


def version():
    with open(os.path.join(INCLUDE, "darwinnotify", "base.h"), encoding="utf-8") as header:
        return ".".join(re.findall(r"^#define DN_VERSION_[A-Z]+ (\d+)$", header.read(), re.M))


setup(version=version(), cffi_modules=["build_native.py:make"],
      options={"bdist_wheel": {"py_limited_api": "cp310"}})
