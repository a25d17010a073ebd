"""Programs of these tests are compiled in a child and kept in a folder of their own."""

import pytest


@pytest.fixture(scope="session")
def folder_of_programs(tmp_path_factory):
    return str(tmp_path_factory.mktemp("programs"))


@pytest.fixture(autouse=True)
def programs(monkeypatch, folder_of_programs):
    monkeypatch.setenv("AUTOGRAD_COMPILE_CACHE", folder_of_programs)
