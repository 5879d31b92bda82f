"""The host's side of each wire protocol, written apart from the firmware; no port is opened here."""
