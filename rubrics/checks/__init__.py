"""Programmatic checks: small functions that give a finding, registered by name.

Importing this package registers the checks that come with cotune.
"""

from . import call as call
from . import grocery as grocery
