# A second since 1970 as people write it; pure, for a device has no clock of its own.


# Gregorian date of a day since 1970, counted in years that begin in March (Howard Hinnant, chrono-compatible low-level
# date algorithms, civil_from_days).
def _civil(day):
    day += 719468
    era, day = divmod(day, 146097)
    year = (day - day // 1460 + day // 36524 - day // 146096) // 365
    day -= 365 * year + year // 4 - year // 100
    month = (5 * day + 2) // 153
    day = day - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    return year + era * 400 + (month <= 2), month, day


def written(second):
    if second is None:
        return "time unknown"
    day, rest = divmod(second, 86400)
    return "%04d-%02d-%02d %02d:%02d" % (_civil(day) + (rest // 3600, rest // 60 % 60))
