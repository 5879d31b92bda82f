"""CRC-16/KERMIT by crcmod, so that the firmware is not held against its own."""

import crcmod.predefined

crc16 = crcmod.predefined.mkCrcFun("kermit")
