# Stand-in for the application: says that it runs and what it was handed, and obeys one-word lines.
import gc

import ujson
import usys
from hal import power


def say(boot, text):
    data = (text + "\n").encode()
    while data:
        data = data[boot.link.write(data) :]


def facts(boot):
    found = boot.identity()
    found["digest"] = boot.image_digest
    found["path"] = usys.path
    found["mark"] = boot.mark
    found["cause"] = power.cause(boot)
    found["modules"] = sorted(usys.modules)
    gc.collect()
    found["free"] = gc.mem_free()
    return found


def step_signature(boot):
    check = boot.signature()
    steps = 0
    while check.step() is None:
        steps += 1
    return {"steps": steps, "result": check.step(), "crc": check.crc}


def checksum(boot, seed, width):
    check = boot.checksum(seed, width)
    while check.step() is None:
        pass
    return check.crc


def obey(boot, words):
    if words[0] == "facts":
        return facts(boot)
    if words[0] == "signature":
        return step_signature(boot)
    if words[0] == "checksum":
        return checksum(boot, int(words[1]), int(words[2]))
    if words[0] == "restart":
        power.restart(boot, words[1])
    if words[0] == "cut":
        boot.port.cut(boot.control)
    if words[0] == "ticks":
        return boot.port.ticks()
    if words[0] == "crash":
        raise ValueError("asked to crash")
    return words


def run(boot):
    say(boot, "READY " + boot.cause)
    while True:
        boot.port.wait((boot.link, boot.wire, boot.control), 1000)
        boot.control.read()
        data = boot.link.read()
        if data:
            say(boot, ujson.dumps(obey(boot, data.decode().split())))
