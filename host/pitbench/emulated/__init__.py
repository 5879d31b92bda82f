"""The emulated board: an RP2040 that boots a real MicroPython UF2, at the pace of a real one.

`rp2040py` executes the chip's instructions. What it leaves out or gets wrong for our purpose is mended from outside,
each in a place of its own, to be removed when the package does it itself:

| where | what the package does | what a board does |
|---|---|---|
| `usb_port.NakIdleOut` | answers an idle OUT endpoint with empty packets: the chip is busy for nothing | says NAK |
| `uart.TimedUart` | never clears the transmit interrupt (`UART.write` hangs); bytes take no time | PL011 with FIFOs |
| `flash.TimedFlash` | erase and program take no time; the unique id is all FF; nothing is kept | a NOR flash |
| `pacer.Pacer` | lets idle time fly by | a second lasts a second |
| `stride.pyx` | asks Python at each instruction, branch, call and division: six times as slow | nothing |
"""
