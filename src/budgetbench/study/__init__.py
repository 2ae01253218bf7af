"""The benchmark: studies, runs of methods, their records and what is summed up from them.

A configuration becomes a `Study` (`study`, `methods`, `source_code`), a data set a `Run` with its
split, prices and seed (`runs`). A job (`jobs`, `isolation`, `server`) fits a method in each run
(`experiment`), scores its stages (`evaluation`) and writes rows (`records`) that say what they were
made with (`provenance`). Beside them lie `kept_jobs` and `reruns`.
"""
