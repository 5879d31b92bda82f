# First code on the board. Built-ins by u-name: a stray file must not shadow them.
import micropython
import uos
import usys

# 0x03 on the serial port would clear the receive ring and raise KeyboardInterrupt.
micropython.kbd_intr(-1)
names = [entry[0] for entry in uos.ilistdir("/boot")]
shadows = [name for name in names if name[-4:] != ".mpy" and name.split(".")[0] + ".mpy" in names]
if shadows:
    # A source or a folder is imported in place of the bytecode beside it: import nothing, and stay mute.
    usys.path[:] = ["/boot/-"]
    print("extra file /boot/" + shadows[0], file=usys.stderr)
else:
    usys.path[:] = ["/boot"]
    import block  # noqa: E402

    block.start()
