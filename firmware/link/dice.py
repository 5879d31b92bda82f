# What a dice shaker is told by people, and says of them: who filled it, who inspected it, what was found.
from device.dice_age import DAY_MS
from device.dice_shaker import PEOPLE
from link.frame import Refused
from link.late import load

_PEOPLE = [name for name, _ in PEOPLE]


# Not by an import, which would load it unvouched where nobody asked for a proof yet.
class Ops(load("link.service").Proven):
    ARGS = """
dice:
fill: role=:str people=:list proof=:str|:empty
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
        if len(people) != len(_PEOPLE) or any(type(word) is not str for word in people):
            raise Refused("bad_args", "people are five texts: " + ", ".join(_PEOPLE))
        self._prove(request, "fill|" + "|".join(people))
        people = dict(zip(_PEOPLE, people))
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
