"""Users' tables: reads them, tells columns of words from columns of numbers, encodes both."""
