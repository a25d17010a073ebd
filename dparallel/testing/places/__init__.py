"""The pytest plugin: @pytest.mark.places runs a test on local devices, on ranks as threads, and on MPI ranks.

    door      pytest's entry point is launch.pytest_plugin, which loads `plugin` when a test is marked
    plugin    the hooks of the pytest that the user started: a variant of the test for each world
    worlds    what a test can run on, and the marker's arguments
    limit     ends a test in this process that takes too long
    job       an mpirun of pytest's ranks that the tests' MPI variants are sent to; what its ranks report
    ranks     the hooks of a pytest that is one rank, of such a job or of a job that the user started
    examples  hypothesis: the same examples on every rank
"""
