"""CRC-16/KERMIT by crcmod: the firmware's own is under test elsewhere."""

import crcmod.predefined

crc16 = crcmod.predefined.mkCrcFun("kermit")
