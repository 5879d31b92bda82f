# Why the board started, and how it restarts on purpose.


# A board may report its own reset as a watchdog's: the mark that we left tells them apart. A power-up needs no mark.
def cause(boot):
    if boot.mark and boot.cause != "power":
        return boot.mark.split(" ")[0]
    return boot.cause


# What the application failed with before this start, else "".
def failure(boot):
    words = boot.mark.split(" ", 2)
    return words[2] if words[0] == "crash" and len(words) == 3 else ""


# Never returns.
def restart(boot, how):
    boot.leave_mark(how)
    boot.port.reset(boot.control, how)
