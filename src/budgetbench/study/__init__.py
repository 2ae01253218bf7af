"""The benchmark: studies, runs of methods, their records and what is summed up from them.

A configuration becomes a `Study` (`configuration`, `methods`, `source_code`, `study`), a data set
a `Run` with its split, prices and seed (`runs`). A job (`jobs`, `isolation`, `server`) fits a
method in each run (`experiment`, `tries`), scores its stages (`evaluation`) and writes rows
(`records`) that say what they were made with (`provenance`). Beside them lie `kept_jobs`, `usage`,
`reruns` and `archive`.
"""
