"""`python -m pitbench` is `pitbench`."""

import sys

from pitbench.cli import main

sys.exit(main())
