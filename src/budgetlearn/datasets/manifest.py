"""What was fetched for a data set, as a file that later steps and readers can look at."""

import json

from .._files import whole_file
from .fetching import content_sha256


def write_manifest(spec, paths, manifest):
    """Write the hashes of a data set's raw files as JSON; the file appears whole or not at all.

    Parameters
    ----------
    spec : DatasetSpec
        Entry of the registry.
    paths : iterable of Path
        The files that `fetch` returned; none for embedded and generated data.
    manifest : path-like
        Where to write.
    """
    content = {
        "dataset": spec.id,
        "source": spec.kind,
        "sha256": {
            file.path: content_sha256(path) for file, path in zip(spec.files, paths, strict=True)
        },
    }
    if spec.content is not None:
        content["sha256"][spec.parameters["path"]] = spec.content
    with whole_file(manifest) as partial:
        partial.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
