# First code on the board. Built-ins by u-name: a stray file must not shadow them.
import micropython
import uos
import usys

# 0x03 on the serial port would clear the receive ring and raise KeyboardInterrupt.
micropython.kbd_intr(-1)
# What the image builder knows of the board: the pin that, held to GND at start, leaves the board to its REPL, and the
# boot block's folder where MicroPython has mounted it.
STRAP = None
BOOT = "/boot"
held = False
if STRAP is not None:
    import umachine

    held = not umachine.Pin(STRAP, umachine.Pin.IN, umachine.Pin.PULL_UP).value()


# Returns whether nothing stands in place of the bytecode that is imported next.
def find_no_shadow():
    names = [entry[0] for entry in uos.ilistdir(BOOT)]
    for name in names:
        if name[-4:] != ".mpy" and name.split(".")[0] + ".mpy" in names:
            print("extra file " + BOOT + "/" + name, file=usys.stderr)
            return False
    return True


if held:
    micropython.kbd_intr(3)
elif find_no_shadow():
    usys.path[:] = [BOOT]
    import block  # noqa: E402

    block.start()
else:
    # Import nothing, and stay mute.
    usys.path[:] = [BOOT + "/-"]
