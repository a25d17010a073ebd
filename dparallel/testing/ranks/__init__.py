"""The pytest plugin: @pytest.mark.ranks runs a test on local devices, on ranks as threads, and on MPI ranks.

    plugin      the hooks of the user's pytest session: a variant of the test for each world. pytest's entry point is
                launch.pytest_plugin, which loads `plugin` when a test is marked
    worlds      the kinds of communicators that a test runs on, and the marker's arguments
    time_limit  ends a test in this process that takes too long
    job         an MPI job of pytest processes, to which the session sends tests, and their reports
    rank_hooks  the hooks of a pytest process that is one rank, of such a job or of a job that the user started
    examples    hypothesis: the same examples on every rank
"""
