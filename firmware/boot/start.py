# Becomes /main.py: some ports start USB only after boot.py has returned.
import micropython
import usys
import utime


# Returns only where the REPL was asked for.
def run():
    # Again: MicroPython arms the interrupt character for each file that it runs.
    micropython.kbd_intr(-1)
    try:
        import block

        return block.run()
    except (Exception, KeyboardInterrupt) as e:  # noqa: BLE001  whatever it was, the board never shows a REPL
        usys.print_exception(e, usys.stderr)
    # A broken boot block leaves a mute board, never a REPL.
    while True:
        utime.sleep_ms(1000)


# A name of boot.py, which MicroPython runs in the same name space.
if not globals().get("held"):
    run()
