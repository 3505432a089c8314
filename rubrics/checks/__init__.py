"""Programmatic checks: small functions that give a finding, registered by name.

Importing this package registers the checks that come with cotune.
"""

from . import approval as approval
from . import call as call
from . import claims as claims
from . import grocery as grocery
from . import limits as limits
from . import pace as pace
from . import privacy as privacy
