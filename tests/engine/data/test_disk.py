import errno

import pytest

from engine.data.disk import writing
from engine.errors import BadData, NoSpace


@pytest.mark.parametrize(
    ("number", "error"),
    [(errno.ENOSPC, NoSpace), (errno.EDQUOT, NoSpace), (errno.EFBIG, BadData), (errno.EIO, OSError)],
)
def test_what_a_failed_write_means(number, error):
    with pytest.raises(error), writing():
        raise OSError(number, "from the system")
