"""The benchmark: a configuration becomes a `Study`, a data set a `Run` with its split and prices.

A job (`jobs`, `isolation`, `fork_server`) fits a method in each run and scores its stages
(`experiment`; msB's sequences in `model_sequences`), and writes rows (`records`) that say what they
were made with (`provenance`).
"""
