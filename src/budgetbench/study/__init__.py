"""The benchmark: studies, runs of methods, their records and what is summed up from them."""
