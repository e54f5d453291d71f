"""Times and pieces of time, worked out with Python's integers and zoneinfo.

A time is an int: microseconds since 1970-01-01T00:00:00Z.  A piece is known by its start.  The rules are those of the
documents: pieces of an hour and less begin at multiples of their length on the local clock, and where the clocks change
by what is no multiple of it; wider ones of less than a day begin at local clock times, counted from midnight; days, counted from 1970-01-01,
months, counted from 1970-01, and weeks, which begin on Monday and are counted from 1969-12-29, begin at local midnight.
Where the clocks pass over a start, the piece begins when they have; where they show a start twice, at the first.  Every
time lies in one piece: the last that has begun.  A fixed width in UTC is
counted from 1970-01-01T00:00:00Z.
"""
import datetime
import functools
import re
import zoneinfo

SECOND = 1_000_000
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR
BEGIN = -62_135_596_800 * SECOND  # 0001-01-01
END = 253_402_300_800 * SECOND  # 10000-01-01: points lie in [BEGIN, END)
DAYS_OF_400_YEARS = 146_097
EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
UNITS = {"us": 1, "ms": 1000, "s": SECOND, "m": MINUTE, "h": HOUR, "d": DAY, "w": 7 * DAY, "y": 365 * DAY}
NAMED = {"minute": MINUTE, "hour": HOUR, "day": DAY}


def duration(text):
    count, unit = re.fullmatch(r"(\d+)([a-z]+)", text).groups()
    return int(count) * UNITS[unit]


def width_of(text):
    """A width of a declaration or question: an int of microseconds, "week", or months as ("months", N)."""
    if text in ("week", "1w"):
        return "week"
    if text in ("month", "1mo"):
        return ("months", 1)
    if text in ("quarter", "year"):
        return ("months", 3 if text == "quarter" else 12)
    if text in NAMED:
        return NAMED[text]
    if match := re.fullmatch(r"(\d+)(mo|y)", text):
        return ("months", int(match[1]) * (12 if match[2] == "y" else 1))
    return duration(text)


def parse(text):
    """RFC 3339 to microseconds."""
    if text.startswith("10000-"):  # what a local clock shows at the end of 9999
        return parse("2000" + text[5:]) - 946_684_800 * SECOND + END
    moment = datetime.datetime.fromisoformat(text)
    return (moment - EPOCH) // datetime.timedelta(microseconds=1)


def text_of(micros):
    """Microseconds to RFC 3339 in UTC, exactly; of the year 10000, too."""
    if micros < BEGIN:
        return f"{micros} us"  # of messages only
    if micros >= END:
        return "10000" + text_of(micros - END + 946_684_800 * SECOND)[4:]
    moment = EPOCH + datetime.timedelta(microseconds=micros)
    fraction = f".{moment.microsecond:06}" if moment.microsecond else ""
    return f"{moment:%Y}".rjust(4, "0") + f"{moment:-%m-%dT%H:%M:%S}{fraction}Z"


@functools.lru_cache(maxsize=1 << 16)
def _offset_of_minute(minute, zone):
    moment = EPOCH + datetime.timedelta(minutes=min(minute, END // MINUTE - 3 * 1440))
    return moment.astimezone(zoneinfo.ZoneInfo(zone)).utcoffset() // datetime.timedelta(microseconds=1)


class Pieces:
    """Pieces of one width on the clocks of one zone."""

    def __init__(self, width, zone="UTC"):
        self.width = width_of(width) if isinstance(width, str) else width
        self.zone = None if zone in (None, "", "UTC") else zone
        self.starts = {}

    def offset(self, micros):
        # Clocks change at whole minutes.
        return _offset_of_minute(micros // MINUTE, self.zone) if self.zone else 0

    def start(self, micros):
        """What would begin before the year 1 begins there."""
        return max(BEGIN, self._start(micros))

    def _start(self, micros):
        if self._is_fixed():
            return micros - (micros - self._first()) % self.width
        if self._is_short():
            offset = self.offset(micros)
            start = micros - (micros + offset) % self.width
            return start if (self.offset(start) - offset) % self.width == 0 else self._change(start, micros)
        number = self._number(micros + self.offset(micros))
        while self._first_moment(number + 1) <= micros:  # the clocks have gone back over a start
            number += 1
        return self._first_moment(number)

    def next(self, start):
        """The start of the piece behind the one that starts at `start`."""
        if self._is_fixed():
            return self._start(start) + self.width
        if self._is_short():
            offset = self.offset(start)
            end = start + self.width - (start + offset) % self.width
            return end if (self.offset(end) - offset) % self.width == 0 else self._change(start, end)
        number = self._number(start + self.offset(start)) + 1
        # Clocks that leave a whole piece out make the next one begin there.
        return self._first_moment(number)

    def before(self, start, count):
        """The start of the piece `count` pieces before the one that starts at `start`."""
        for _ in range(count):
            start = self.start(max(BEGIN, start - 1))
        return start

    def _first(self):
        """Whole weeks are counted from a Monday."""
        return -3 * DAY if isinstance(self.width, int) and self.width % (7 * DAY) == 0 else 0

    def _is_fixed(self):
        return self.zone is None and isinstance(self.width, int)

    def _is_short(self):
        return isinstance(self.width, int) and self.width <= HOUR

    def _number(self, local):
        """Which piece a local time lies in, counted from 1970."""
        day = local // DAY
        if self.width == "week":
            return (day + 3) // 7  # 1970-01-01 was a Thursday
        if isinstance(self.width, tuple):
            cycle, day = divmod(day, DAYS_OF_400_YEARS)  # Python's calendar ends in 9999
            date = datetime.date(1970, 1, 1) + datetime.timedelta(days=day)
            return ((date.year + 400 * cycle) * 12 + date.month - 1 - 1970 * 12) // self.width[1]
        if self.width < DAY:
            per_day = -(-DAY // self.width)
            return day * per_day + local % DAY // self.width
        return (day * DAY - self._first()) // self.width

    def _local_start(self, number):
        if self.width == "week":
            return (number * 7 - 3) * DAY
        if isinstance(self.width, tuple):
            year, month = divmod(number * self.width[1], 12)
            cycle, year = divmod(year, 400)
            date = datetime.date(1970 + year, month + 1, 1)
            return ((date - datetime.date(1970, 1, 1)).days + cycle * DAYS_OF_400_YEARS) * DAY
        if self.width < DAY:
            per_day = -(-DAY // self.width)
            day, place = divmod(number, per_day)
            return day * DAY + place * self.width
        return number * self.width + self._first()

    def _first_moment(self, number):
        """The first moment at which the local clock shows the start of this piece, or a later time."""
        if number in self.starts:
            return self.starts[number]
        local = self._local_start(number)
        shown = [local - offset for offset in (self.offset(local - DAY), self.offset(local + DAY))]
        exact = [moment for moment in shown if moment + self.offset(moment) == local]
        start = min(exact) if exact else self._change(min(shown), max(shown))
        self.starts[number] = start
        return start

    def _change(self, low, high):
        """When the clocks change, in (low, high]."""
        before = self.offset(low)
        while high - low > MINUTE:
            middle = (low + high) // 2 // MINUTE * MINUTE
            if middle <= low:
                middle = low + MINUTE
            if self.offset(middle) == before:
                low = middle
            else:
                high = middle
        return high // MINUTE * MINUTE
