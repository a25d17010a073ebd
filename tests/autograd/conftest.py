"""The argument `lib`: a test that takes it runs with our library and with PyTorch, where that is installed."""


def pytest_generate_tests(metafunc):
    if "lib" in metafunc.fixturenames:
        from both import LIBS  # here: files that need no PyTorch are run without it, see run_all.py

        metafunc.parametrize("lib", LIBS, ids=lambda lib: lib.__name__)
