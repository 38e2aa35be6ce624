"""Seccomp: system calls that no model needs and that reach past files, memory and time (Linux, x86-64 and ARM64).

It closes what Landlock and the namespaces leave open: UNIX sockets by path (a database's, a container engine's),
leaving the process group and so outliving the kill, signals and limits set on the parent, modes and owners of files.
Numbers: asm/unistd_64.h and asm-generic/unistd.h. Source: Documentation/userspace-api/seccomp_filter.rst.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys

# name: number on x86-64, number on ARM64 (None: the call does not exist there)
_REFUSED: dict[str, tuple[int | None, int | None]] = {
    "setsid": (112, 157), "setpgid": (109, 154), "socket": (41, 198), "ptrace": (101, 117),
    "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272), "pidfd_getfd": (438, 438),
    "kill": (62, 129), "tkill": (200, 130), "rt_sigqueueinfo": (129, 138), "rt_tgsigqueueinfo": (297, 240),
    "pidfd_send_signal": (424, 424), "io_uring_setup": (425, 425), "bpf": (321, 280), "perf_event_open": (298, 241),
    "userfaultfd": (323, 282), "keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218),
    "mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51), "unshare": (272, 97),
    "setns": (308, 268), "open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430),
    "fsmount": (432, 432), "mount_setattr": (442, 442), "init_module": (175, 105), "finit_module": (313, 273),
    "delete_module": (176, 106), "kexec_load": (246, 104), "reboot": (169, 142), "swapon": (167, 224),
    "swapoff": (168, 225), "acct": (163, 89), "settimeofday": (164, 170), "clock_settime": (227, 112),
    "sethostname": (170, 161), "setdomainname": (171, 162), "quotactl": (179, 60), "open_by_handle_at": (304, 265),
    "mknod": (133, None), "mknodat": (259, 33), "personality": (135, 92), "shmget": (29, 194), "msgget": (68, 186),
    "semget": (64, 190), "mq_open": (240, 180),
}  # fmt: skip
# Libraries call these after copying a file, and a failure would stop them: answered with success, and nothing is done.
_IGNORED: dict[str, tuple[int | None, int | None]] = {
    "chmod": (90, None), "fchmod": (91, 52), "fchmodat": (268, 53), "fchmodat2": (452, 452), "chown": (92, None),
    "fchown": (93, 55), "lchown": (94, None), "fchownat": (260, 54), "utime": (132, None), "utimes": (235, None),
    "futimesat": (261, None), "utimensat": (280, 88), "setxattr": (188, 5), "lsetxattr": (189, 6),
    "fsetxattr": (190, 7), "setxattrat": (463, 463), "removexattr": (197, 14), "lremovexattr": (198, 15),
    "fremovexattr": (199, 16), "removexattrat": (466, 466),
}  # fmt: skip
_TGKILL, _PRLIMIT, _CLONE, _CLONE3, _SECCOMP = (234, 131), (302, 261), (56, 220), (435, 435), (317, 277)
_ARCHITECTURES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}
_NEW_NAMESPACES = 0x7E020000
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _FIRST_ARGUMENT = 0, 4, 16
_ALLOW, _ERROR = 0x7FFF0000, 0x00050000
_SPEC_ALLOW = 4  # without it, kernels before 5.16 slow the process down, and the timings with it


def _step(code: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_true, if_false, value)


def _program(column: int, architecture: int) -> bytes:
    refuse = _step(_RETURN, _ERROR | errno.EPERM)
    steps = [_step(_LOAD, _ARCHITECTURE), _step(_EQUAL, architecture, 1, 0), refuse, _step(_LOAD, _NUMBER)]
    if column == 0:
        steps += [_step(_AT_LEAST, 0x40000000, 0, 1), refuse]  # the x32 numbers name the same calls again
    steps += [_step(_EQUAL, _CLONE3[column], 0, 1), _step(_RETURN, _ERROR | errno.ENOSYS)]  # libc then uses clone
    for names, answer in ((_REFUSED, refuse), (_IGNORED, _step(_RETURN, _ERROR))):
        for numbers in names.values():
            if (number := numbers[column]) is not None:
                steps += [_step(_EQUAL, number, 0, 1), answer]
    allow, argument = _step(_RETURN, _ALLOW), _step(_LOAD, _FIRST_ARGUMENT)
    steps += [_step(_EQUAL, _TGKILL[column], 0, 4), argument, _step(_EQUAL, os.getpid(), 0, 1), allow, refuse]
    steps += [_step(_EQUAL, _PRLIMIT[column], 0, 4), argument, _step(_EQUAL, 0, 0, 1), allow, refuse]
    steps += [_step(_EQUAL, _CLONE[column], 0, 3), argument, _step(_ANY_BIT, _NEW_NAMESPACES, 0, 1), refuse]
    return b"".join([*steps, allow])


def restrict() -> bool:
    """Filter the system calls of this process and all it starts, for good. False where that is not possible."""
    if sys.platform != "linux" or platform.machine() not in _ARCHITECTURES:
        return False
    column, architecture = _ARCHITECTURES[platform.machine()]
    program = _program(column, architecture)
    code = ctypes.create_string_buffer(program, len(program))
    filter_ = ctypes.create_string_buffer(struct.pack("@HP", len(program) // 8, ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    return not libc.syscall(
        ctypes.c_long(_SECCOMP[column]), ctypes.c_long(1), ctypes.c_long(_SPEC_ALLOW), ctypes.byref(filter_)
    )
