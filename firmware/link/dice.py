# What a dice shaker is told by people, and says of them: who filled it, who inspected it, what was found.
import json

from device.dice_age import DAY_MS
from link.frame import Refused
from link.late import load


# Not by an import, which would load it unvouched where nobody asked for a proof yet.
class Ops(load("link.service").Proven):
    ARGS = """
dice:
fill: role=:str people=:dict proof=:str|:empty
inspect: role=:str who=:str licence=:str found=:str|:empty proof=:str|:empty
tamper_report: role=:str proof=:str|:empty
"""

    # The dice that are in: who answers for them, since when, and how long they may stay.
    def _dice(self, request):
        filled, age = self.device.record["filled"], self.device.age
        left = max(0, DAY_MS - age.ms(self.machine.now)) // 1000 if filled else None
        return {"filled": filled, "left": left, "inspection": self.device.record["used"]}

    # 13:69E-1.16(f). The proof covers each word.
    def _fill(self, request):
        people = request["people"]
        for name in ("who", "licence", "witness", "witness_licence", "seal"):
            if type(people.get(name, "")) is not str:
                raise Refused("bad_args", "people: %s is text" % name)
            people.setdefault(name, "")
        if len(people) != 5:
            raise Refused("bad_args", "people are who, licence, witness, witness_licence, seal")
        self._prove(request, "fill|" + _words(people))
        wrong = self.device.wrong_fill(people)
        if wrong:
            raise Refused("refused", wrong)
        self.machine.step(("fill", people))
        return {}

    # 13:69E-1.16A(b): found is "" where nothing was.
    def _inspect(self, request):
        who, licence, found = request["who"], request["licence"], request["found"]
        self._prove(request, "inspect|%s|%s|%s" % (who, licence, found))
        wrong = self.device.wrong_inspection(who, licence, found)
        if wrong:
            raise Refused("refused", wrong)
        self.machine.step(("inspect", who, licence, found))
        return {}

    def _tamper_report(self, request):
        self._prove(request, "tamper_report")
        report = self.device.record["tamper"]
        if report is None:
            raise Refused("refused", "no tampering was found")
        return dict(zip(("when", "table", "who", "licence", "found"), report))


def _words(values):
    return ",".join("%s=%s" % (name, json.dumps(values[name])) for name in sorted(values))
