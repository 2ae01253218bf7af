"""Finished jobs that outlive their submission.

When one job of a submission is killed, for memory or time or by `scancel`, Snakemake deletes the
outputs of all its jobs, finished ones too. So each job that fits leaves a second link to its
outputs in a folder that Snakemake does not know, with a key of all that they were made of; when the
job is started again, it takes them over instead of fitting once more.
"""

import hashlib
import json
import os
import shutil
from pathlib import Path

from budgetlearn.files import whole_file

from .failures import beside, folder_of, is_repeated

_FOLDER = "finished"


def take_over(job):
    """Put the outputs of an earlier, equal job in place, and return whether there were any.

    `job` is the `snakemake` of a script. False where the job was not finished before, was made of
    something else, or has a run to repeat.
    """
    kept = [beside(job.config, output, _FOLDER) for output in job.output]
    keys = [path.with_name(f"{path.name}.key") for path in kept]
    whole = all(path.is_file() for path in (*kept, *keys))
    same = whole and {key.read_text() for key in keys} == {_key(job)}
    if same and not is_repeated(job.config, job.output[0]):
        for path, output in zip(kept, job.output, strict=True):
            # A link, not a move: the next kill may come before the job is counted as done.
            _link(path, output)
            os.utime(output)  # its inputs may have been written again, the same as before
        return True
    for path in (*keys, *kept):  # outdated: the key goes first, as it vouches for the file
        path.unlink(missing_ok=True)
    return False


def keep(job):
    """Keep the outputs of a job that is done, until the whole study is."""
    for output in job.output:
        kept = beside(job.config, output, _FOLDER)
        # The key is written last: a kill in between leaves a file that nobody trusts.
        _link(output, kept)
        with whole_file(kept.with_name(f"{kept.name}.key")) as partial:
            partial.write_text(_key(job))


def forget(study):
    """Remove what was kept, once every points file of a study is where it belongs."""
    if all(map(os.path.exists, study.points_files)):
        shutil.rmtree(Path(folder_of(study.config), _FOLDER), ignore_errors=True)


def _link(source, target):
    """Make `target` the same file as `source`, or a copy where the file system has no links."""
    with whole_file(target) as partial:
        try:
            os.link(source, partial)
        except OSError:
            shutil.copyfile(source, partial)


def _key(job):
    """Return a hash of all that decides a job's outputs: rule, parameters, content of inputs."""
    named = {name: str(value) for name, value in job.wildcards.items()}
    inputs = [hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in job.input]
    decisive = [job.rule, named, dict(job.params.items()), inputs]
    return hashlib.sha256(json.dumps(decisive, sort_keys=True, default=str).encode()).hexdigest()
