"""The benchmark of budgetlearn: data sets, studies, their analysis and the report."""
