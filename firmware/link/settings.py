# The settings of a device, for who proves a role that may change them.
import json

from link.frame import Refused
from link.late import load


# Not by an import, which would load it unvouched where nobody asked for a proof yet.
class Ops(load("link.service").Proven):
    ARGS = """
configure: role=:str set=:dict proof=:str|:empty
"""

    # 13:69E-1.28X(d). The proof covers each value: name=JSON, in order of name.
    def _configure(self, request):
        settings = request["set"]
        asked = ",".join("%s=%s" % (name, json.dumps(settings[name])) for name in sorted(settings))
        role = self._prove(request, "configure|" + asked)
        wrong = self.device.wrong_setting(settings) or self.device.under_way()
        if wrong:
            raise Refused("refused", wrong)
        self.machine.step(("configure", settings, role))
        return {"settings": self.device.record["settings"]}
