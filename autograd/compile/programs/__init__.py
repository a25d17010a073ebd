"""What runs: a plain program of Python lines, or a native one; engines choose."""
