"""The data sets: their size, where they are from and whose they are."""

from ..section import Section


class DataSets(Section):
    """A data sheet in a line for each data set."""

    id = "data"
    title = "Data"
    place = 105
