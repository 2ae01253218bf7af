"""After the fits: from operating points to schedules, areas, ranks and recommendations.

The modules contain pure functions on tidy frames. `budgetbench.analysis.schedules` describes the
frame `points`, and `report/sections/texts.yaml` the columns of the tables.
"""

from .results import Results as Results
