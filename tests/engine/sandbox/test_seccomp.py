"""The filter's program, carried out here for both machines it is written for."""

import errno
import os
import platform
import struct

import pytest

from engine.sandbox import landlock, seccomp

X86, ARM = 0, 1
ALLOW, EPERM, SUCCESS, ENOSYS = 0x7FFF0000, 0x50000 | errno.EPERM, 0x50000, 0x50000 | errno.ENOSYS
ARCHITECTURES = {X86: 0xC000003E, ARM: 0xC00000B7}


def answer(column, number, argument=0, architecture=None) -> int:
    """What the kernel would do: a small interpreter of classic BPF."""
    program = seccomp._program(column, ARCHITECTURES[column])
    steps = [struct.unpack("=HBBI", program[i : i + 8]) for i in range(0, len(program), 8)]
    known = {0: number, 4: architecture or ARCHITECTURES[column], 16: argument & 0xFFFFFFFF}
    position = loaded = 0
    while True:
        code, if_true, if_false, value = steps[position]
        position += 1
        if code == 0x06:
            return value
        if code == 0x20:
            loaded = known[value]
            continue
        holds = {0x15: loaded == value, 0x35: loaded >= value, 0x45: bool(loaded & value)}[code]
        position += if_true if holds else if_false


@pytest.mark.parametrize("column", [X86, ARM])
def test_every_listed_call_is_answered_as_listed(column):
    for names, expected in ((seccomp._REFUSED, EPERM), (seccomp._IGNORED, SUCCESS)):
        for name, numbers in names.items():
            if numbers[column] is not None:
                assert answer(column, numbers[column]) == expected, name


@pytest.mark.parametrize(("column", "calls"), [(X86, (0, 1, 9, 59, 202, 257)), (ARM, (63, 64, 222, 221, 98, 56))])
def test_ordinary_calls_pass(column, calls):
    for number in calls:  # read, write, mmap, execve, futex, openat
        assert answer(column, number) == ALLOW


@pytest.mark.parametrize(("column", "tgkill", "prlimit", "clone"), [(X86, 234, 302, 56), (ARM, 131, 261, 220)])
def test_calls_that_depend_on_their_argument(column, tgkill, prlimit, clone):
    assert answer(column, tgkill, os.getpid()) == ALLOW
    assert answer(column, tgkill, os.getppid()) == EPERM
    assert answer(column, prlimit, 0) == ALLOW
    assert answer(column, prlimit, os.getppid()) == EPERM
    assert answer(column, clone, 0x3D0F00) == ALLOW  # a thread
    assert answer(column, clone, 0x11) == ALLOW  # a process
    assert answer(column, clone, 0x10000000 | 0x11) == EPERM  # with a new user namespace
    assert answer(column, 435, 0) == ENOSYS


def test_other_ways_to_name_the_same_calls_are_refused():
    assert answer(X86, 0, architecture=0x40000003) == EPERM  # 32-bit calls
    assert answer(X86, 0x40000000) == EPERM  # x32
    assert answer(ARM, 63, architecture=0x40000028) == EPERM


def test_machines_without_it_do_without_it(monkeypatch):
    monkeypatch.setattr(platform, "machine", lambda: "riscv64")
    assert seccomp.restrict() is False
    monkeypatch.setattr(landlock, "version", lambda: 0)
    assert landlock.restrict(read=[], execute=[], write=[], devices=[]) is False
