"""The fixture `lib`: a test that takes it runs with our library and with PyTorch, where that is installed."""

import pytest
from both import LIBS


@pytest.fixture(params=LIBS, ids=lambda lib: lib.__name__)
def lib(request):
    return request.param
