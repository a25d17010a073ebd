"""Programs of these tests are kept in a folder of their own."""

import pytest


@pytest.fixture(autouse=True, scope="session")
def folder_of_programs(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AUTOGRAD_COMPILE_CACHE", str(tmp_path_factory.mktemp("programs")))
        yield
