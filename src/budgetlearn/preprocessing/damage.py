"""What damaged files make their readers raise, turned into one kind of error."""

import csv
import errno
import lzma
import struct
import tarfile
import zipfile
import zlib
from contextlib import contextmanager

from ..exceptions import DatasetError

# Everything that zip, tar, gzip, lzma, idx, csv and SVMlight readers were seen to raise on
# damaged content; encrypted archives are RuntimeError, unknown methods NotImplementedError.
DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    MemoryError,
    NotImplementedError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    csv.Error,
    lzma.LZMAError,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
# The disk's fault and not the file's.
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


def is_of_disk(error):
    """Return whether an error says that the disk is full, read-only or broken."""
    return isinstance(error, OSError) and error.errno in _DISK


@contextmanager
def reading(path, form, also=()):
    """Turn whatever a reader raises on a damaged file into a `DatasetError` that names the file.

    Parameters
    ----------
    path : Path
        The file.
    form : str
        What it is read as, for the message.
    also : tuple of type, default=()
        What this reader raises beside `DAMAGE`.
    """
    try:
        yield
    except DatasetError:
        raise
    except FileNotFoundError as error:
        raise DatasetError(f"{path} cannot be read: No such file.") from error
    except (*DAMAGE, *also) as error:
        if is_of_disk(error):
            raise
        hint = " Save it as UTF-8." if isinstance(error, UnicodeDecodeError) else ""
        raise DatasetError(
            f"{path.name} cannot be read as {form} ({type(error).__name__}: {error}).{hint}"
        ) from error
