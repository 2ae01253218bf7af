"""Progress of a study, in lines such as "fits 43 of 113, about 2 min left"."""

import time
from statistics import fmean, geometric_mean


class Progress:
    """A filter of Snakemake's log that reports the progress of `fits`, {job id: what it fits}."""

    def __init__(self, fits, say):
        self.fits, self.say, self.began = fits, say, time.monotonic()
        self.said, self.ended, self.started, self.took = self.began, None, {}, {}

    def filter(self, record):
        """Note when jobs start and end, and report progress at times; keep every record."""
        event, now = getattr(record, "event", None), time.monotonic()
        if event == "job_started":
            self.started |= dict.fromkeys(record.jobs, now)
        elif event == "job_finished" and record.job_id in self.fits:
            self.took[record.job_id] = now - self.started.get(record.job_id, self.began)
            self.ended = now if len(self.took) == len(self.fits) else None
        elif event == "progress" and self.took and self.said < (self.ended or now - 10):
            self.said, minutes = now, self._minutes_left(now - self.began)
            left = "less than a minute" if minutes < 1 else f"about {minutes:.0f} min"
            n_done, n_fits = len(self.took), len(self.fits)
            self.say(f"fits {n_done} of {n_fits}{f', {left} left' if n_done < n_fits else ''}")
        return True

    def _minutes_left(self, elapsed):
        seconds = {}
        for job, took in self.took.items():
            seconds.setdefault(self.fits[job], []).append(took)
        means = {what: fmean(each) for what, each in seconds.items()}
        other = geometric_mean(means.values())  # the mean would be too high: heavy fits come first
        left = [means.get(what, other) for job, what in self.fits.items() if job not in self.took]
        # Jobs run side by side, so their seconds add up to more than those on the clock.
        return sum(left) * elapsed / sum(self.took.values()) / 60
