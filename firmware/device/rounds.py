# A device whose last rounds are for everybody: over the link, and recalled on its display (13:69E-1.28P(i)).
from device.attended import Attended


# A device has rounds(), what each row of them is in `round_fields`, and `recalls`, the states they are recalled in.
class Rounds(Attended):
    def __init__(self, record, verified, calendar, post):
        super().__init__(record, verified, calendar, post)
        self.recalled = 0  # rounds back that the display shows, from 1

    # Each press recalls one round further back, and the one behind the last none.
    def _press(self, button, now):
        if button == "recall" and self.state in self.recalls:
            self.recalled = self.recalled + 1 if self.recalled < len(self.rounds()) else 0
            self._event("recalled", str(self.recalled))
        else:
            super()._press(button, now)
