"""Code, versions and machine of the results, and hashes of the data."""

from ..section import Section


class MadeWith(Section):
    """Provenance of code and data."""

    id = "provenance"
    title = "Provenance"
    place = 110
