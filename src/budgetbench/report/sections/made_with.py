"""What the results were made with: code, versions, machine, and hashes of the data."""

from ..section import Section


class MadeWith(Section):
    """Provenance of code and data."""

    id = "provenance"
    title = "Provenance"
    place = 110
