"""Builds the package; pyproject.toml describes it."""
import os
import re
import sys

from setuptools import setup

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))  # pip does not do that
from build_native import INCLUDE  # noqa: E402


def version():
    """Returns the version of the C library, which is that of the package."""
    with open(os.path.join(INCLUDE, "darwinnotify", "base.h"), encoding="utf-8") as header:
        return ".".join(re.findall(r"^#define DN_VERSION_[A-Z]+ (\d+)$", header.read(), re.M))


setup(version=version(), cffi_modules=["build_native.py:make"],
      options={"bdist_wheel": {"py_limited_api": "cp310"}})
