# United States dollars: the currency table that ID-003 command 8A reads back,
# and what a genuine note looks like to the sensors.
COUNTRY = 1
# escrow code, base, power of ten
DENOMINATIONS = (
    (0x61, 1, 0),
    (0x62, 2, 0),
    (0x63, 5, 0),
    (0x64, 1, 1),
    (0x65, 2, 1),
    (0x66, 5, 1),
    (0x67, 1, 2),
)
LENGTH = 156  # mm
THICKNESS = 110  # um


def cents(index):
    code, base, power = DENOMINATIONS[index]
    return base * 10**power * 100


# Four spots in orientation 0 (face up, portrait leading); turned round the
# order reverses, turned over the light and dark change places.
def optical(index, orientation):
    spots = [
        40 + 20 * index,
        200 - 18 * index,
        60 + 25 * (index * 3 % 7),
        90 + 15 * (index * 5 % 7),
    ]
    if orientation & 2:
        spots = [255 - spot for spot in spots]
    if orientation & 1:
        spots.reverse()
    return spots


def magnetic(index):
    return 70 + 10 * index
