"""`python -m launch` is `dprun`."""

import sys

from .cli import main

sys.exit(main())
