"""``python -m cdcwire_conformance VERB``: the same as ``cdcwire VERB``."""

import sys

from cdcwire_conformance.cli import main

if __name__ == "__main__":
    sys.exit(main())
