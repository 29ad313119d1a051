"""Describes the extension module that binds the C library: cffi's API mode, stable ABI of Python.

setup.py calls it. The library is linked statically, made by its own Makefile; with
DARWINNOTIFY_SHARED=1 the one that pkg-config knows is linked, as a distribution wants it.
"""
import os
import re
import shlex
import subprocess

import cffi

HERE = os.path.dirname(os.path.abspath(__file__))

# In a source distribution the C library is a folder of it, in the repository a neighbour.
LIBRARY = next(
    (path for path in (os.path.join(HERE, "CShims"), os.path.join(HERE, "..", "CShims"))
     if os.path.isdir(path)), "")
INCLUDE = os.path.join(LIBRARY, "CDarwinNotify", "include")

DECLARATIONS = r"""
typedef struct dn_center dn_center;
typedef struct dn_dict dn_dict;
typedef struct dn_dict_builder dn_dict_builder;
typedef struct dn_array dn_array;
typedef struct dn_request dn_request;

#define DN_NOT_CONNECTED ...
#define DN_TYPE_STRING ...
#define DN_TYPE_BOOL ...
#define DN_TYPE_INT64 ...
#define DN_TYPE_UINT64 ...
#define DN_TYPE_DOUBLE ...
#define DN_TYPE_DATA ...
#define DN_TYPE_DATE ...
#define DN_TYPE_ARRAY ...
#define DN_TYPE_DICT ...

const char *dn_version(void);
int dn_shutdown(void);
int dn_flush(uint64_t timeout_us);
dn_center *dn_center_darwin(void);
dn_center *dn_center_distributed(void);
int dn_center_is_on_bus(dn_center *center);
int dn_center_post(dn_center *center, const char *name, const void *object,
                   const dn_dict *user_info, unsigned options);
int dn_may_post(const char *name);

uint32_t notify_register_check(const char *name, int *out_token);
uint32_t notify_set_state(int token, uint64_t state64);
uint32_t notify_get_state(int token, uint64_t *state64);

typedef struct dn_value {
    int type;
    size_t n_bytes;
    union {
        const char *string;
        bool boolean;
        int64_t int64;
        uint64_t uint64;
        double real;
        const void *data;
        int64_t date_us;
        const dn_array *array;
        const dn_dict *dict;
    } as;
    ...;
} dn_value;

dn_dict *dn_dict_unref(const dn_dict *dict);
size_t dn_dict_get_count(const dn_dict *dict);
const char *dn_dict_get_at(const dn_dict *dict, size_t index, dn_value *ret_value);
size_t dn_array_get_count(const dn_array *array);
bool dn_array_get(const dn_array *array, size_t index, dn_value *ret_value);
dn_dict_builder *dn_dict_builder_new(void);
dn_dict_builder *dn_dict_builder_free(dn_dict_builder *builder);
int dn_dict_builder_finish(dn_dict_builder *builder, dn_dict **ret_dict);
void dn_dict_builder_set_string(dn_dict_builder *builder, const char *key, const char *string);
void dn_dict_builder_set_bool(dn_dict_builder *builder, const char *key, bool boolean);
void dn_dict_builder_set_int64(dn_dict_builder *builder, const char *key, int64_t number);
void dn_dict_builder_set_uint64(dn_dict_builder *builder, const char *key, uint64_t number);
void dn_dict_builder_set_double(dn_dict_builder *builder, const char *key, double number);
void dn_dict_builder_set_data(dn_dict_builder *builder, const char *key, const void *data,
                              size_t n_bytes);
void dn_dict_builder_set_date(dn_dict_builder *builder, const char *key, int64_t date_us);
void dn_dict_builder_begin_dict(dn_dict_builder *builder, const char *key);
void dn_dict_builder_begin_array(dn_dict_builder *builder, const char *key);
void dn_dict_builder_end(dn_dict_builder *builder);

int dn_request_answer(dn_request *request, const dn_dict *reply);
int dn_request_refuse(dn_request *request, const char *error, const char *message,
                      const dn_dict *details);
"""


def mailbox_declarations():
    """Returns the declarations of mailbox.h, which has only what cffi understands."""
    with open(os.path.join(HERE, "native", "mailbox.h"), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    return "\n".join(line for line in text.splitlines()
                     if not line.startswith("#") or line.startswith("#define MAILBOX_BATCH"))


def options():
    """Returns how to compile and link with the library."""
    shared = {"include_dirs": [os.path.join(HERE, "native")]}
    if os.environ.get("DARWINNOTIFY_SHARED"):
        words = shlex.split(subprocess.check_output(
            [os.environ.get("PKG_CONFIG", "pkg-config"), "--cflags", "--libs", "darwinnotify"],
            text=True))
        shared["extra_compile_args"] = [word for word in words if word.startswith("-I")]
        shared["extra_link_args"] = [word for word in words if not word.startswith("-I")]
        return shared
    subprocess.check_call(
        ["make", "--silent", "-C", LIBRARY, f"-j{os.cpu_count()}", "build/libdarwinnotify.a"])
    shared["include_dirs"].append(INCLUDE)
    shared["extra_objects"] = [os.path.join(LIBRARY, "build", "libdarwinnotify.a")]
    shared["extra_link_args"] = ["-lsystemd", "-pthread", "-Wl,--strip-debug"]
    return shared


def make():
    """Returns the description of the module, for cffi_modules in setup.py."""
    builder = cffi.FFI()
    builder.cdef(DECLARATIONS + mailbox_declarations())
    builder.set_source(
        "darwinnotify._native", '#include "mailbox.h"\n#include <notify.h>\n',
        sources=["native/mailbox.c"], py_limited_api=True, **options())
    return builder
