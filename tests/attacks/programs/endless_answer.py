"""An answer that never ends, from an object that is nearly a list."""


class Endless:
    def __iter__(self):
        while True:
            yield 0.25

    def __len__(self):
        return 4


def run_code():
    return Endless()
