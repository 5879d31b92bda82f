# What the image builder says of an image.
DEVICE: str
VERSION: str
REVISION: str
KIND: str
WIRE: str
LATE_OPS: list[str]
