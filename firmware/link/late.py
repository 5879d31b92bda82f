# Modules that are loaded by name. Once the board is up, each is held against the signed manifest right before.
import gc
import sys


# Until the board is up, the boot block has just looked. Then main.py puts its check here, which doesn't return where it
# fails.
def vouch(path):
    pass


def load(name):
    if name not in sys.modules:
        vouch("/image/" + name.replace(".", "/") + ".mpy")
        gc.collect()  # what is loaded stays: it is to lie where the check was
        __import__(name)
    return sys.modules[name]
