"""Landlock: the kernel lets this process, and all it starts, reach listed paths only (Linux 5.13 and newer).

Source: Documentation/userspace-api/landlock.rst of the Linux kernel. System call numbers are the same on every machine.
"""

from __future__ import annotations

import ctypes
import os
import stat
import struct
from collections.abc import Iterable
from pathlib import Path

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1, 2, 4, 8
_MAKE_CHAR, _MAKE_SOCK, _MAKE_BLOCK, _MAKE_SYM = 1 << 6, 1 << 9, 1 << 11, 1 << 12
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_FILE_RIGHTS = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEV
_READ = _READ_FILE | _READ_DIR
_NET = 0b11  # bind and connect of TCP; nothing is allowed
_SCOPED = 0b11  # abstract sockets and signals stay among the confined
_RIGHTS_BY_VERSION = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}  # version -> number of file rights it knows


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def version() -> int:
    """The Landlock version of this kernel; 0 where there is none."""
    if not hasattr(os, "O_PATH"):
        return 0
    return max(0, int(_libc().syscall(ctypes.c_long(_CREATE), None, ctypes.c_long(0), ctypes.c_long(1))))


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return  # a system folder that this machine does not have
    try:
        if not stat.S_ISDIR(os.fstat(fd).st_mode):
            rights &= _FILE_RIGHTS
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, fd))
        if _libc().syscall(ctypes.c_long(_ADD_RULE), ctypes.c_long(ruleset), ctypes.c_long(1), rule, ctypes.c_long(0)):
            raise OSError(ctypes.get_errno(), f"Landlock refuses a rule for {path}")
    finally:
        os.close(fd)


def restrict(*, read: Iterable[Path], execute: Iterable[Path], write: Iterable[Path], devices: Iterable[Path]) -> bool:
    """Confine this process for good. False where the kernel has no Landlock; OSError when it refuses.

    read: files and folders to read; execute: to read and start programs from; write: folders to do anything in except
    links, devices and sockets; devices: files to read and write. NO_NEW_PRIVS must be set.
    """
    if not (known := version()):
        return False
    handled = (1 << _RIGHTS_BY_VERSION.get(known, 16)) - 1
    attributes = struct.pack("=QQQ", handled, _NET, _SCOPED)[: 8 if known < 4 else 16 if known < 6 else 24]
    buffer = ctypes.create_string_buffer(attributes, len(attributes))
    size = ctypes.c_long(len(attributes))
    ruleset = int(_libc().syscall(ctypes.c_long(_CREATE), buffer, size, ctypes.c_long(0)))
    if ruleset < 0:
        raise OSError(ctypes.get_errno(), "Landlock refuses the rule set")
    inside = handled & ~(_EXECUTE | _MAKE_CHAR | _MAKE_SOCK | _MAKE_BLOCK | _MAKE_SYM | _IOCTL_DEV)
    try:
        for paths, rights in ((read, _READ), (execute, _READ | _EXECUTE), (write, inside)):
            for path in paths:
                _allow(ruleset, path, rights & handled)
        for path in devices:
            _allow(ruleset, path, (_READ_FILE | _WRITE_FILE | _TRUNCATE) & handled)
        if _libc().syscall(ctypes.c_long(_RESTRICT), ctypes.c_long(ruleset), ctypes.c_long(0)):
            raise OSError(ctypes.get_errno(), "Landlock refuses to confine this process")
    finally:
        os.close(ruleset)
    return True
