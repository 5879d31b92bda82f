# What a card shuffler says to who proves a role, the games that were; and the receipt of the last cards.
from link.frame import Refused, page
from link.late import load


# Not by an import, which would load it unvouched where nobody asked for a proof yet.
class Ops(load("link.service").Proven):
    ARGS = """
history: role=:str proof=:str|:empty
receipt: who=:str|:empty seal=:str|:empty place=:str|:empty cards=:str|:empty
"""

    # 13:69E-1.28X(c)2. The running game is in it once it is over; no card ever is.
    def _history(self, request):
        role = self._prove(request, "history")
        self.machine.step(("service", "history_read", role))
        return {"games": page(self.device.record["games"]), "fields": "number calendar game dealt end"}

    # 13:69E-1.18A(b)4 and (c)2iv: who, seal, place and make of the cards are the operator's to say.
    def _receipt(self, request):
        if self.device.inspected is None:
            raise Refused("refused", "no cards were counted since the start")
        for name in ("who", "seal", "place", "cards"):
            if not request[name]:
                raise Refused("bad_args", "%s is empty: a receipt without it is worth nothing" % name)
        when, game, decks, total, wrong = self.device.inspected
        identity = self.machine.boot.identity()
        made = {"manufacturer": identity["firmware"], "model": "shuffler", "serial": identity["uid"]}
        made.update({"when": when, "game": game, "decks": decks, "total": total})
        made.update({name: request[name] for name in ("who", "seal", "place", "cards")})
        made["result"] = "failed: " + wrong if wrong else "passed"
        made["shuffled"] = self.device.state in ("ready", "dealing")
        return made
