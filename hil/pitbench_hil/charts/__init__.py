"""Reference charts of the devices, written from clauses and protocol documents, never from the firmware."""
