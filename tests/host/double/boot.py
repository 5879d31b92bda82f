# A board that is no device: it speaks the link and one ID-003 command, so that the PC side can be tried alone.
import micropython

micropython.kbd_intr(-1)
