# Becomes /main.py: some ports start USB only after boot.py has returned.
import usys
import utime

try:
    import block

    block.run()
except Exception as e:  # noqa: BLE001  whatever it was, the board never shows a REPL
    usys.print_exception(e, usys.stderr)
# A broken boot block leaves a mute board, never a REPL.
while True:
    utime.sleep_ms(1000)
