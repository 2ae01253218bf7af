"""One file over http, in bounded time and size, with retries."""

import logging
import time

import requests
import urllib3
from tqdm import tqdm

from ..exceptions import DatasetError

ATTEMPTS = 3
FIRST_WAIT = 1.0  # seconds; doubled after each failure
TIMEOUT = (10, 60)  # seconds to connect, and between two packets
MOST_SECONDS = 1800  # for a whole file with all attempts, whatever trickles in
MOST_BYTES = 4 << 30
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
# urllib3's own come up while the body is read.
_BROKEN = (requests.RequestException, urllib3.exceptions.HTTPError)

logger = logging.getLogger(__name__)


def download(url, path, label):
    """Download `url` to `path`, with retries and a progress line.

    Parameters
    ----------
    url : str
        Address.
    path : Path
        File to write.
    label : str
        What the progress line says.

    Raises
    ------
    DatasetError
        When the server refuses, sends too much or takes too long, or when the last try failed.
    """
    wait, end = FIRST_WAIT, time.monotonic() + MOST_SECONDS
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return _download_once(url, path, label, end)
        except requests.HTTPError as error:
            status = error.response.status_code
            if status not in _TRY_AGAIN or attempt == ATTEMPTS:
                raise DatasetError(f"the server answered {status}") from error
        except _BROKEN as error:
            if attempt == ATTEMPTS:
                raise DatasetError(
                    f"no complete answer in {ATTEMPTS} attempts ({type(error).__name__}: {error})"
                ) from error
        logger.info("%s: try %d failed, next in %g s", url, attempt, wait)
        if time.monotonic() + wait > end:
            raise DatasetError(f"not complete after {MOST_SECONDS} s")
        time.sleep(wait)
        wait *= 2
    return None


def _download_once(url, path, label, end):
    with requests.get(url, stream=True, timeout=TIMEOUT) as answer:
        answer.raise_for_status()
        length = answer.headers.get("content-length", "")
        total = int(length) if length.isdecimal() else None
        bar = tqdm(total=total, desc=label, unit="B", unit_scale=True, mininterval=1.0)
        with path.open("wb") as out, bar:
            # `iter_content` would wait until a whole block is there, however slowly it comes.
            while block := answer.raw.read1(1 << 16, decode_content=True):
                out.write(block)
                bar.update(len(block))
                if out.tell() > MOST_BYTES:
                    raise DatasetError(f"more than {MOST_BYTES:,} bytes")
                if time.monotonic() > end:
                    raise DatasetError(f"not complete after {MOST_SECONDS} s")
