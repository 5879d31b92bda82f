# The key whose signature the boot block takes, as the image builder writes it: its name, and 256 bytes, big-endian.
NAME: str
MODULUS: bytes
