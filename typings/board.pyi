# Facts of one board, as the image builder writes them from boards/*.toml.
NAME: str
ENTROPY: str
