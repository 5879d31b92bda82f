# Authenticated requests: commissioning, entry and service log, memory clear.
from binascii import unhexlify

from device.access import Access
from hal.entropy import Entropy
from link.frame import Refused

_ROLES_MAX = 8  # the record has them all, and is written whole


class Ops:
    def __init__(self, machine):
        self.machine = machine
        self.device = machine.device
        self.access = Access(machine.device.record["secrets"], Entropy().read)

    def _challenge(self, request):
        return {"nonce": self.access.challenge()}

    # Once for each role: a secret is set at commissioning, and not over it.
    def _commission(self, request):
        role, secret = request["role"], request["secret"]
        if not isinstance(role, str) or not unhexlify(secret):
            raise Refused("bad_args", "role is a name, secret is hex")
        if role in self.device.record["secrets"]:
            raise Refused("refused", "%s has a secret already: only a memory clear by it ends that" % role)
        if len(secret) < 32:
            raise Refused("bad_args", "the secret has at least 16 bytes, in hex")
        if len(self.device.record["secrets"]) >= _ROLES_MAX:
            raise Refused("refused", "%d roles have a secret already" % _ROLES_MAX)
        self.machine.step(("commission", role, secret))
        return {}

    def _prove(self, request, asked):
        role = request["role"]
        if not self.access.proven(role, asked, request["proof"]):
            self.machine.step(("service", "access_refused", role))
            raise Refused("auth", "the proof does not fit: ask for a new challenge")
        return role

    # Entry and service log, NY 5321.9(e)(f): who, licence, reason.
    def _service(self, request):
        what = request["what"]
        if what not in ("entry", "service"):
            raise Refused("bad_args", "what is entry or service")
        who = "%s %s %s" % (request["who"], request["licence"], request["reason"])
        self._prove(request, what + "|" + who)
        self.machine.step(("service", what, who))
        return {}

    # NY 5321.11: staff recorded, or attempted to record, the meters.
    def _attempt_meters(self, request):
        self._prove(request, "attempt_meters")
        self.machine.step(("service", "meters_attempt", request["role"]))
        self.machine.step(("meters_read",))
        return {}

    def _clear_memory(self, request):
        role = self._prove(request, "clear_memory")
        if not self.device.record["meters_read"]:
            raise Refused("refused", "read the meters first, or record the attempt")
        if self.device.record["flight"]:
            raise Refused("refused", "an item is in flight: let it be stacked or returned first")
        self.machine.step(("clear_memory", role))
        return {}
