# The physical world of any device, as far as all are alike: doors, a battery, parts that break. Stepped with the
# device's own `now`; it knows nothing of the device. A plant says in ARGS what there is to do with it.
from micropython import const

_EMPTY_MV = const(2400)


class Plant:
    # What survives a power cut: everything but what the motors did.
    _WORLD = ()  # type: tuple[str, ...]

    def __init__(self):
        self.doors = {}
        self.broken = {}  # part: how
        self.battery = 3000
        self.emitters = 1
        self.reading = None
        self.time = 0
        self.changed = True

    def world(self):
        return {name: getattr(self, name) for name in self._WORLD}

    def restore(self, world):
        for name in self._WORLD:
            setattr(self, name, world[name])

    # -- what the device sees and does ----------------------------------------

    def charged(self):
        return 1 if self.battery >= _EMPTY_MV else 0

    def take_reading(self):
        reading, self.reading = self.reading, None
        return reading

    def light_emitters(self, on):
        self.emitters = on
        self.changed = True

    # -- what a person does, by name of the link's operation -------------------

    def _op_door(self, request):
        self.doors[request["which"]] = 1 if request["open"] else 0
        self.changed = True

    def _op_battery(self, request):
        self.battery = request["mv"]
        self.changed = True

    def _op_break(self, request):
        self.broken[request["part"]] = request.get("how", "dead")
        self.changed = True

    def _op_mend(self, request):
        self.broken.pop(request["part"], None)
        self.changed = True
