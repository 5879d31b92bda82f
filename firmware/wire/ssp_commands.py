# What an SSP host may ask for, command by command, and by which number. Answers begin with a generic response.
from micropython import const
from wire.ssp_events import Events
from wire.ssp_facts import OK, Facts
from wire.ssp_secure import Secure, is_prime
from wire.ssp_session import MONEY, VERSIONS

SYNC = b"\x11"
_CANT = const(b"\xf5")
_RANGE = const(b"\xf4")
_FAIL = const(b"\xf8")
_POLL = const(0x07)
_REJECT = const(0x08)
_POLL_WITH_ACK = const(0x56)
_EVENT_ACK = const(0x57)

NO_DATA = b"\0\0"
# Least and most data bytes, of the commands that have any.
SIZES = {
    0x02: b"\1\3",
    0x05: b"\0\1",
    0x06: b"\1\1",
    0x0C: b"\0\1",
    0x24: b"\3\3",
    0x26: b"\1\1",
    0x4A: b"\x08\x08",
    0x4B: b"\x08\x08",
    0x4C: b"\x08\x08",
}
# These settle a note in escrow, or hold it; every other command lets its time begin anew.
_OF_ESCROW = (0x01, 0x07, 0x08, 0x11, 0x18, 0x56)

# Bar code reader: one, on top; interleaved 2 of 5.
_ONE_ON_TOP = const(1)
_READERS_MOST = const(3)
_INTERLEAVED = const(1)
_CHARACTERS_LEAST = const(6)
_CHARACTERS_MOST = const(24)
_NOTES_OFF = const(1)
_TICKETS_OFF = const(2)
_UNUSED = const(0xFC)


class Commands(Facts):
    def open(self, device, step, boot):
        self.begin(device, boot, Events(device, step))
        self.entropy = None
        self.secure = Secure(self._random)

    # Raises OSError where there is no sound source.
    def _random(self, n):
        source = self.entropy and self.entropy()
        data = source.read(n) if source else b""
        if not (source and source.healthy):
            raise OSError
        return data

    # Once a key is agreed on, nothing about money is told or done without it.
    def about_money(self, command):
        if command in (_POLL, _REJECT):
            return self.device.state in MONEY
        return command in (_POLL_WITH_ACK, _EVENT_ACK)

    def do(self, command, data):
        answer = COMMANDS[command](self, data)
        if command not in _OF_ESCROW:
            self.events.keep()
        return answer

    # -- session ---------------------------------------------------------

    def do_sync(self, data):
        self.events.new_session()
        return OK

    # Carried out before it is answered; then nothing is left of the session.
    def do_reset(self, data):
        self.events.reset()
        self.secure.forget()
        return OK

    def do_version(self, data):
        if data[0] not in VERSIONS:
            return _FAIL
        self.events.version = data[0]
        return OK

    def do_poll(self, data):
        return self.events.poll(False)

    def do_poll_with_ack(self, data):
        return self.events.poll(True)

    def do_event_ack(self, data):
        return OK if self.events.acknowledge() else _CANT

    # -- acceptance ------------------------------------------------------

    # Bit set: that channel is accepted; one that isn't named is not.
    def do_inhibits(self, data):
        self.events.accepted = int.from_bytes(data, "little")
        self.events.apply()
        return OK

    def do_enable(self, data):
        self.events.enabled = True
        self.events.apply()
        return OK

    def do_disable(self, data):
        self.events.enabled = False
        self.events.apply()
        return OK

    def do_hold(self, data):
        return OK if self.events.hold() else _CANT

    def do_reject(self, data):
        return OK if self.events.reject() else _CANT

    def do_reject_code(self, data):
        return OK + bytes((self.events.reject_code,))

    # -- tickets ---------------------------------------------------------

    def do_reader(self, data):
        return OK + bytes((_ONE_ON_TOP, self.events.readers, _INTERLEAVED, self.events.characters))

    def do_set_reader(self, data):
        readers, code, characters = data
        known = readers <= _READERS_MOST and code == _INTERLEAVED
        if not (known and _CHARACTERS_LEAST <= characters <= _CHARACTERS_MOST):
            return _RANGE
        self.events.readers = readers & _ONE_ON_TOP
        self.events.characters = characters
        self.events.apply()
        return OK

    # Bit set: inhibited.
    def do_ticket_inhibits(self, data):
        notes, tickets = self.events.notes, self.events.tickets
        return OK + bytes((_UNUSED | (0 if notes else _NOTES_OFF) | (0 if tickets else _TICKETS_OFF),))

    def do_set_ticket_inhibits(self, data):
        self.events.notes = not data[0] & _NOTES_OFF
        self.events.tickets = not data[0] & _TICKETS_OFF
        self.events.apply()
        return OK

    def do_ticket(self, data):
        ticket = self.events.ticket
        return OK + bytes((self.events.ticket_status, len(ticket))) + ticket

    # -- keys ------------------------------------------------------------

    def do_generator(self, data):
        self.secure.generator = self._prime(data)
        return OK if self.secure.generator else _RANGE

    def do_modulus(self, data):
        self.secure.modulus = self._prime(data)
        return OK if self.secure.modulus else _RANGE

    def _prime(self, data):
        n = int.from_bytes(data, "little")
        return n if is_prime(n) else None

    # No key where there is nothing sound to draw it from.
    def do_exchange(self, data):
        if not (self.secure.generator and self.secure.modulus):
            return _FAIL
        try:
            key = self.secure.exchange(int.from_bytes(data, "little"))
        except OSError:
            return _FAIL
        return OK + key


COMMANDS = {
    0x01: Commands.do_reset,
    0x02: Commands.do_inhibits,
    0x05: Commands.do_setup,
    0x06: Commands.do_version,
    0x07: Commands.do_poll,
    0x08: Commands.do_reject,
    0x09: Commands.do_disable,
    0x0A: Commands.do_enable,
    0x0C: Commands.do_serial,
    0x0D: Commands.do_unit,
    0x0E: Commands.do_values,
    0x0F: Commands.do_security,
    0x10: Commands.do_reteach,
    0x11: Commands.do_sync,
    0x17: Commands.do_reject_code,
    0x18: Commands.do_hold,
    0x20: Commands.do_firmware,
    0x21: Commands.do_dataset,
    0x23: Commands.do_reader,
    0x24: Commands.do_set_reader,
    0x25: Commands.do_ticket_inhibits,
    0x26: Commands.do_set_ticket_inhibits,
    0x27: Commands.do_ticket,
    0x4A: Commands.do_generator,
    0x4B: Commands.do_modulus,
    0x4C: Commands.do_exchange,
    0x4F: Commands.do_build,
    0x56: Commands.do_poll_with_ack,
    0x57: Commands.do_event_ack,
}
