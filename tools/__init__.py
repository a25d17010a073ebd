"""Programs that write files or releases of this repository. None of it is installed."""
