"""raises(): pytest.raises for one call, in one line."""

import pytest


def raises(error, match, call, *args, **kwargs):
    with pytest.raises(error, match=match):
        call(*args, **kwargs)
