# Tower light and message, kept as last shown.
class Indicators:
    def __init__(self):
        self.light = "off"
        self.message = ""

    def show(self, light, message):
        self.light = light
        self.message = message
