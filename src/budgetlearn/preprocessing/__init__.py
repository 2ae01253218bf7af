"""Tables as they are: read, told apart by kind of column, and turned into numbers."""
