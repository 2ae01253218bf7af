"""After the fits: from operating points to schedules, areas, ranks and recommendations.

Pure functions on tidy frames; `budgetbench.analysis.schedules` says what the frame `points` holds,
`report/sections/texts.yaml` what the columns of the tables mean. `Results` has what several parts
of a report need, each computed once.
"""

from .results import Results as Results
