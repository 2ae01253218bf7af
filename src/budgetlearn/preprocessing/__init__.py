"""Tables as they are: read, sorted by kind of column, and turned into numbers."""
