# State tables as data. A row: states, event, guard, next state, action.


# Rows one state at a time, as a chart or a person reads them.
def expand(table):
    for row in table:
        for state in row[0]:
            yield [state, row[1], row[2], row[3]]


# -> the first row that fits, or None: the event means nothing in this state.
def find(table, device, event):
    for row in table:
        if device.state in row[0] and row[1] == event and (row[2] is None or getattr(device, row[2])()):
            return row
    return None
