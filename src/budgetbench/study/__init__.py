"""The benchmark's studies: a `Study` is a checked configuration, a `Run` a data set with a split.

A job (`jobs`, `isolation`, `fork_server`) fits a method in each run, scores its stages
(`experiment`; msB's sequences in `model_sequences`), and writes rows (`records`) with the code,
versions and data behind them (`provenance`).
"""
