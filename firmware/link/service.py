# Authenticated requests: commissioning, entry and service log, memory clear.
from binascii import unhexlify

from link.args import Operations
from link.frame import Refused

_ROLES_MAX = 8  # the record has them all, and is written whole


# Operations that are carried out for who proves a role. One challenge serves all of them, so there is one Access.
class Proven(Operations):
    def __init__(self, machine):
        super().__init__(machine)
        self.device = machine.device
        self.access = machine.access()

    def _prove(self, request, asked, role=None):
        role = role or request["role"]
        left = self.device.locked(role, self.machine.now)
        if left:
            raise Refused("locked", "%s is locked out for %d s after too many wrong proofs" % (role, left // 1000))
        if not self.access.proven(role, asked, request.get("proof", "")):
            self.machine.step(("access_refused", role))
            raise Refused("auth", "the proof does not fit: ask for a new challenge")
        self.machine.step(("access_granted", role))
        if role not in self.device.rights.get(request["do"], (role,)):
            self.machine.step(("service", "access_refused", role + " " + request["do"]))
            raise Refused("right", "%s may not: ask %s" % (role, " or ".join(self.device.rights[request["do"]])))
        return role


class Ops(Proven):
    ARGS = """
challenge:
commission: role=:str secret=:str by?=:str proof?=:str|:empty
service: role=:str what=entry|service who=:str licence=:str reason=:str proof=:str|:empty
attempt_meters: role=:str proof=:str|:empty
clear_memory: role=:str proof=:str|:empty
"""

    def __init__(self, machine):
        super().__init__(machine)
        self.entropy = machine.entropy()

    # A nonce that could be foreseen proves nothing about who answers it.
    def _challenge(self, request):
        nonce = self.access.challenge()
        if self.entropy.healthy:
            return {"nonce": nonce}
        self.access.nonce = None
        self.machine.step(("service", "entropy_failed", self.entropy.name))
        raise Refused("entropy", "the entropy source failed its health test: no challenge without it")

    # Once for each role: a secret is set at commissioning, and not over it. Whoever has one that gives the right lets
    # the next in (13:69E-1.28X(d)); until there is one, the board is being commissioned.
    def _commission(self, request):
        role, secret, secrets = request["role"], request["secret"], self.device.record["secrets"]
        size = len(unhexlify(secret))  # which passes over blanks
        if role in secrets:
            raise Refused("refused", "%s has a secret already, and keeps it" % role)
        if size < 16:
            raise Refused("bad_args", "the secret has at least 16 bytes, in hex")
        if len(secrets) >= _ROLES_MAX:
            raise Refused("refused", "%d roles have a secret already" % _ROLES_MAX)
        if any(name in secrets for name in self.device.rights.get("commission", secrets)):
            self._prove(request, "commission|%s|%s" % (role, secret), request.get("by", "nobody"))
        self.machine.step(("commission", role, secret))
        return {}

    # Entry and service log, NY 5321.9(e)(f): who, licence, reason.
    def _service(self, request):
        what = request["what"]
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
        under_way = self.device.under_way()
        if under_way:
            raise Refused("refused", under_way)
        self.machine.step(("clear_memory", role))
        return {}
